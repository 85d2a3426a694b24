"""What several worlds say together of one pod: the kubelet's, the claims', the scheduler's, and what it means.

Pure, as each of them is: tasks read what is asked about, hand it over and get a result or its parts.
"""
