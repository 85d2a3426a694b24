"""What was only ever proposed: behaviours that no kubelet has, off unless somebody asks for them."""
