"""Any number of inputs through bounded memory (thesis, section 4.5)::

    batches -batcher-> groups -engine: copy, start, finish-> results in order

`streams` is what users see. `batcher` reads batches and cuts them into groups, `batches` checks each batch, `buffers`
holds host memory for groups, `copying` fills it, `engine` drives the devices (`runtime.pipe`), `work` is a group on its
way through the engine, `sizing` chooses how many inputs a group has, `channel` connects two threads, and `closer`
closes engines whose stream was dropped.
"""
