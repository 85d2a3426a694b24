#!/bin/bash
yum install -y kubelet --best
