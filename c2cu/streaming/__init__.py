"""Any number of inputs through bounded memory (thesis, section 4.5)::

    batches -feed-> groups -engine: stage, start, finish-> results in order

`feed` reads and cuts, `batches` checks, `berths` holds the host memory, `copying` fills it, `engine` drives the devices
(`runtime.pipe`), `sizing` chooses how many inputs a group has, `channel` is what stands between two threads.
"""
