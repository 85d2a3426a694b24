numalign admit tests/golden/admit/verdict-apart.yaml --machine hgx-h100 --policy best-effort
