"""The editor: VS Code as code-server in a browser, with a profile that makes typing exact."""
