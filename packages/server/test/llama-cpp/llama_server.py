"""llama_server.py MODEL ALIAS LORA [THREADS]: llama.cpp's own server, started with a LoRA file or "", until stdin ends.

Prints its address.
"""

import sys

import xllamacpp

model, alias, lora, *threads = sys.argv[1:]
params = xllamacpp.CommonParams()
params.model.path = model
params.model_alias = {alias}
params.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(lora, 1.0)] if lora else []
params.lora_init_without_apply = True
params.n_ctx = 512
params.n_parallel = 1
params.cpuparams.n_threads = int(threads[0]) if threads else 1
params.warmup = False
params.port = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
