"""The command-line tools. Each has `run(argv, stdin, stdout, stderr) -> int` and a console script `main()`."""
