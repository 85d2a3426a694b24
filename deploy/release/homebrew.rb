# A formula for Homebrew; a release fills in address and checksum (.ci/release_files.py).
class Numalign < Formula
  desc "Predicts how a Kubernetes node aligns pods on NUMA nodes"
  homepage "{{ homepage }}"
  url "{{ address }}/numalign.pyz", using: :nounzip
  version "{{ version }}"
  sha256 "{{ numalign.pyz }}"
  license "Apache-2.0"

  depends_on "python@3.13"

  def install
    bin.install "numalign.pyz" => "numalign"
    rewrite_shebang detected_python_shebang(use_python_from_path: true), bin/"numalign"
  end

  test do
    assert_match "hgx-h100", shell_output("#{bin}/numalign machines -o name")
  end
end
