"""From the providers' hints to one hint, without enumerating the cross product."""
