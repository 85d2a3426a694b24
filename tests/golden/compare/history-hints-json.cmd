numalign compare --hints "11:T / 01:T" -o json
