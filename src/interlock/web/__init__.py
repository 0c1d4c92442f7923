"""The dashboard: pages for people in a browser. Reads journals and sends control messages, nothing else."""
