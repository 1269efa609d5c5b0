"""The process that holds an environment: one revision, in its own venv, in a sandbox.

It imports the standard library, `verifiers` and what verifiers brings, nothing of
`envwright`. `canonical` and `frames` import the standard library alone, so our side
of the wire uses the very same code. It guarantees nothing about what environment
code does in this process: whoever reads its answers checks them.
"""
