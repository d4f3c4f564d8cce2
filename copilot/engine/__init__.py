"""The durable queue of investigations: DBOS behind one small room. Decision 0007 says why.

It knows runs, jobs and steps, and nothing of what an investigation is. Only this package imports
DBOS. Importing the package itself is free; `copilot.engine.engine` brings the vendor.
"""
