"""The benchmarks of Reprise: servers beside each other, rows, costs and the report. Started by Benchmarks/run."""
