#!/bin/busybox sh
# The first process of a guest: the host's root, read-only and with a layer of its own over it, and `out` to write results.
b=/bin/busybox
$b mkdir -p /proc /sys /dev /host /layer /whole
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for module in $($b cat /modules); do $b insmod "/$module"; done
$b mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=512000 host /host
$b mount -t tmpfs layer /layer
$b mkdir /layer/upper /layer/work
$b mount -t overlay -o lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work whole /whole
for folder in proc sys dev; do $b mount -o move "/$folder" "/whole/$folder"; done
$b mkdir -p /whole/var/lib/kubelet /whole/var/log/pods /whole/mnt
for folder in run var/lib/kubelet var/log/pods; do $b mount -t tmpfs tmpfs "/whole/$folder"; done
$b mkdir -p /whole/sys/fs/cgroup
$b mount -t cgroup2 cgroup /whole/sys/fs/cgroup
$b mount -t 9p -o trans=virtio,version=9p2000.L out /whole/mnt
$b chroot /whole $b env HOME=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$ROOT" \
  "$PYTHON" -m tests.lab.guest "$SHAPE" /mnt
$b sync
$b poweroff -f
