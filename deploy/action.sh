#!/usr/bin/env bash
# What action.yml runs. Inputs come as environment variables and are split at white space, never evaluated.
set -euo pipefail
case "${COMMAND:-lint}" in
  lint | admit | test) ;;
  *) echo "::error::command is lint, admit or test, not ${COMMAND//[^a-zA-Z0-9 _-]/?}"; exit 2 ;;
esac
read -r -a paths -d '' <<<"${PATHS:-}" || true
read -r -a arguments -d '' <<<"${ARGUMENTS:-}" || true
if ! command -v numalign >/dev/null; then
  python3 -m venv "${RUNNER_TEMP:-/tmp}/numalign"
  "${RUNNER_TEMP:-/tmp}/numalign/bin/pip" install --quiet "${VERSION:-$GITHUB_ACTION_PATH}"
  PATH="${RUNNER_TEMP:-/tmp}/numalign/bin:$PATH"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then # the step below has the status, and the errors
  numalign "${COMMAND:-lint}" "${arguments[@]}" -o markdown -- "${paths[@]}" >>"$GITHUB_STEP_SUMMARY" 2>/dev/null || true
fi
exec numalign "${COMMAND:-lint}" "${arguments[@]}" -o github -- "${paths[@]}"
