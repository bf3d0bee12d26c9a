"""Nothing that lies beside a notebook, or that Python would load by itself, gets into a process of ours."""
