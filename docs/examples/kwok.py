"""The kubelets of a KWOK cluster: numalign answers for every bound pod, and KWOK's Stages follow the answer.

Run it beside the cluster, before the first pod comes: `python docs/examples/kwok.py cluster.yaml`.
"""

import json
import subprocess
import sys

WATCH = "kubectl get pods --all-namespaces --watch --output-watch-events --output json"


def events(lines):
    """Yield the events of a watch; each is a JSON document that ends with a line of its own."""
    text = ""
    for line in lines:
        text += line
        if line.rstrip() == "}" and not line.startswith(" "):
            yield json.loads(text)
            text = ""


def said(answer):
    """Write what a kubelet says as annotations, which the Stages read."""
    if answer["admit"]:
        return ["pod-ready.stage.kwok.x-k8s.io/admitted=true"]
    stage = "pod-rejected.stage.kwok.x-k8s.io"
    return [f"{stage}/reason={answer['reason']}", f"{stage}/message={answer['message']}"]


def main(cluster):
    """Answer until the watch ends."""
    command = ["numalign", "serve", "--cluster", cluster, "--stdio"]
    oracle = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    watch = subprocess.Popen(WATCH.split(), stdout=subprocess.PIPE, text=True)

    def ask(**request):
        oracle.stdin.write(json.dumps(request) + "\n")
        oracle.stdin.flush()
        return json.loads(oracle.stdout.readline())

    node_of = {}
    for event in events(watch.stdout):
        pod = event["object"]
        meta, node = pod["metadata"], pod["spec"].get("nodeName")
        ended = event["type"] == "DELETED" or pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        if ended and meta["uid"] in node_of:
            answer = ask(remove=meta["uid"], node=node_of.pop(meta["uid"]), nrt=True)
        elif not ended and node and meta["uid"] not in node_of:
            answer = ask(admit=pod, node=node, nrt=True)
            if "error" in answer:  # a node of somebody else
                continue
            node_of[meta["uid"]] = node
            words = ["kubectl", "annotate", "pod", meta["name"], "--namespace", meta["namespace"], *said(answer)]
            subprocess.run(words, check=False)
        else:
            continue
        nrt = json.dumps(answer["nrt"])
        subprocess.run(["kubectl", "apply", "--server-side", "--filename", "-"], input=nrt, text=True, check=False)
    oracle.stdin.close()
    oracle.wait()


if __name__ == "__main__":
    main(sys.argv[1])
