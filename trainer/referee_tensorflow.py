"""A network trained by TensorFlow: one rank by itself, several as workers of ParameterServerStrategy with one parameter server over gRPC.

The coordinator gives every worker one step and waits for all of them, so that a step of this is a step of all ranks; the server applies
each worker's gradients as they come. Images lie channel by channel last, as TensorFlow computes them on processors.
"""
import json
import os
import subprocess
import sys
import time


def pad_of(layer, source, axis):
    """Zeros before and behind, so that windows from the first place on give the layer's size."""
    width = "_width" if axis == "width" else ""
    kernel, stride, before = (int(layer["options"][name + width]) for name in ("kernel", "stride", "pad"))
    reach = (kernel - 1) * max(int(layer["options"]["dilation"]), 1) + 1  # pools have none
    return [before, max(0, (int(layer[axis]) - 1) * stride + reach - int(source[axis]) - before)]


def windows_of(layer, *names):
    return [int(layer["options"][name]) for name in names]


class Network:
    """Variables of the layers, and their forward pass."""

    def __init__(self, tf, layers, fail):
        self.tf, self.layers, self.fail, self.variables = tf, layers, fail, []
        self.own = [self.make(layer) for layer in layers]

    def add(self, shape, fan_in, name):
        """Weights as PyTorch begins them: uniform up to the root of 1 / fan-in."""
        tf, most = self.tf, max(fan_in, 1) ** -0.5
        self.variables.append(tf.Variable(tf.random.uniform(shape, -most, most) if fan_in else tf.zeros(shape), name=name))
        return self.variables[-1]

    def make(self, layer):
        kind, options, name = layer["kind"], layer["options"], layer["name"].replace("/", "_")
        wide = int(self.layers[layer["inputs"][0]]["channels"]) if layer["inputs"] else 0
        if kind == "conv":
            kernel, groups = windows_of(layer, "kernel", "kernel_width"), int(options["groups"])
            if groups not in (1, wide) or (groups > 1 and int(options["out"]) != wide):
                self.fail(2, f"{layer['name']}: groups of several channels have no gradient on processors")
            made = [self.add([*kernel, wide // groups, int(options["out"])], kernel[0] * kernel[1] * wide // groups, name)]
        elif kind == "linear" and not options.get("tied"):
            made = [self.add([wide, int(options["out"])], wide, name)]
        elif kind in ("batch_norm", "layer_norm"):
            made = [self.add([wide], 0, name + "_scale"), self.add([wide], 0, name + "_shift")]
            made[0].assign(self.tf.ones([wide]))
            return made
        elif kind in ("image", "features", "input", "flatten", "add", "multiply", "concat", "loss", "dropout", "lrn", "max_pool", "avg_pool",
                      "adaptive_pool") or (kind == "activation" and layer["word"] in self.activations()):
            return []
        else:
            return self.fail(2, f"{layer['name']}: layers of the kind {layer['word']} are not known to it")
        return made + ([self.add([int(options["out"])], 0, name + "_bias")] if options["bias"] > 0 else [])

    def activations(self):
        nn = self.tf.nn
        return {"relu": nn.relu, "relu6": nn.relu6, "gelu": nn.gelu, "silu": nn.silu, "tanh": nn.tanh, "sigmoid": nn.sigmoid}

    def pooled(self, layer, data):
        tf, source = self.tf, self.layers[layer["inputs"][0]]
        if layer["kind"] == "adaptive_pool":
            kernel = [int(source["height"]) // int(layer["height"]), int(source["width"]) // int(layer["width"])]
            return tf.nn.avg_pool2d(data, kernel, kernel, "VALID")
        most = layer["kind"] == "max_pool"
        pads = [[0, 0], pad_of(layer, source, "height"), pad_of(layer, source, "width"), [0, 0]]
        pool = tf.nn.max_pool2d if most else tf.nn.avg_pool2d
        data = tf.pad(data, pads, constant_values=data.dtype.min if most else 0)
        return pool(data, windows_of(layer, "kernel", "kernel_width"), windows_of(layer, "stride", "stride_width"), "VALID")

    def normalized(self, layer, own, data):
        tf = self.tf
        axes = list(range(len(data.shape) - 1)) if layer["kind"] == "batch_norm" else [len(data.shape) - 1]
        mean, variance = tf.nn.moments(data, axes, keepdims=layer["kind"] == "layer_norm")
        return tf.nn.batch_normalization(data, mean, variance, own[1], own[0], 1e-5)

    def convolved(self, layer, own, data):
        tf, source = self.tf, self.layers[layer["inputs"][0]]
        pads = [[0, 0], pad_of(layer, source, "height"), pad_of(layer, source, "width"), [0, 0]]
        strides, dilation = windows_of(layer, "stride", "stride_width"), int(layer["options"]["dilation"])
        if int(layer["options"]["groups"]) > 1:
            out = tf.nn.depthwise_conv2d(data, tf.transpose(own[0], [0, 1, 3, 2]), [1, *strides, 1], pads, dilations=[dilation] * 2)
        else:
            out = tf.nn.conv2d(data, own[0], strides, pads, dilations=dilation)
        return tf.nn.bias_add(out, own[1]) if len(own) > 1 else out

    def value(self, layer, own, inputs):
        tf, kind = self.tf, layer["kind"]
        if kind == "conv":
            return self.convolved(layer, own, inputs[0])
        if kind == "linear":
            return tf.matmul(inputs[0], own[0]) + (own[1] if len(own) > 1 else 0)
        if kind in ("batch_norm", "layer_norm"):
            return self.normalized(layer, own, inputs[0])
        if kind in ("max_pool", "avg_pool", "adaptive_pool"):
            return self.pooled(layer, inputs[0])
        if kind == "lrn":
            size = int(layer["options"]["kernel"])
            return tf.nn.local_response_normalization(inputs[0], size // 2, 1.0, 1e-4 / size, 0.75)
        if kind == "dropout":
            return tf.nn.dropout(inputs[0], layer["options"]["p"])
        if kind == "flatten":
            return tf.reshape(inputs[0], [inputs[0].shape[0], -1])
        if kind == "add":
            return tf.add_n(inputs)
        if kind == "multiply":
            return inputs[0] * inputs[1]
        if kind == "concat":
            return tf.concat(inputs, -1)
        return self.activations()[layer["word"]](inputs[0]) if kind == "activation" else inputs[0]

    def loss(self, data, labels):
        values, scores = [], None
        for layer, own in zip(self.layers, self.own):
            inputs = [values[i] for i in layer["inputs"]] or [data]
            values.append(self.value(layer, own, inputs))
            scores = values[-1] if layer["kind"] == "loss" else scores
        return self.tf.reduce_mean(self.tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))


class Rule:
    """What moves the variables; its states lie beside them."""

    def __init__(self, tf, arguments, variables):
        states = {"sgd": 0, "momentum": 1, "adam": 2}.get(arguments.optimizer, 1)
        self.tf, self.rate, self.variables = tf, arguments.rate, variables
        self.states = [[tf.Variable(tf.zeros_like(one)) for one in variables] for _ in range(states)]
        self.powers = [tf.Variable(beta) for beta in (0.9, 0.999)] if states == 2 else []

    def apply(self, gradients):
        raw = self.tf.raw_ops
        for i, (variable, gradient) in enumerate(zip(self.variables, gradients)):
            of = {"var": variable.handle, "use_locking": True}
            states = [kind[i].handle for kind in self.states]
            with self.tf.device(variable.device):
                if not states:
                    raw.ResourceApplyGradientDescent(**of, alpha=self.rate, delta=gradient)
                elif len(states) == 1:
                    raw.ResourceApplyMomentum(**of, accum=states[0], lr=self.rate, grad=gradient, momentum=0.9)
                else:
                    raw.ResourceApplyAdam(**of, m=states[0], v=states[1], beta1_power=self.powers[0], beta2_power=self.powers[1],
                                          lr=self.rate, beta1=0.9, beta2=0.999, epsilon=1e-8, grad=gradient)
        for power, beta in zip(self.powers, (0.9, 0.999)):
            power.assign(power * beta)


def make_step(tf, arguments, layers, tools):
    network = Network(tf, layers, tools.fail)
    rule = Rule(tf, arguments, network.variables)

    def step(data, labels):
        with tf.GradientTape() as tape:
            loss = network.loss(data, labels)
        rule.apply(tape.gradient(loss, network.variables))
        return loss

    return step, sum(int(tf.size(one)) for one in network.variables)


def draw(tf, arguments, layers, shape, tools, rank):
    seed, last = [arguments.seed, rank], [*shape[1:], shape[0]] if len(shape) == 3 else shape
    return (tf.random.stateless_normal([arguments.batch, *last], seed),
            tf.random.stateless_uniform([arguments.batch], seed, 0, tools.classes_of(layers), tf.int32))


def time_steps(arguments, one):
    """Seconds and losses of those that count."""
    times, losses = [], []
    for step in range(arguments.warm_up + arguments.steps):
        start = time.perf_counter()
        loss = one()
        if step >= arguments.warm_up:
            times.append(time.perf_counter() - start)
            losses.append(loss)
    return {"step": times, "loss": losses}


def alone(tf, arguments, layers, shape, tools):
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    step, parameters = make_step(tf, arguments, layers, tools)
    step, (data, labels) = tf.function(step), draw(tf, arguments, layers, shape, tools, 0)
    return parameters, time_steps(arguments, lambda: float(step(data, labels)))


# --- several ranks ---------------------------------------------------------------------------------------------------------


def serve(tf, arguments, places):
    """A process that does what the coordinator says: a worker, or the parameter server."""
    job, index = os.environ["PACELINE_REFEREE_PLACE"].split(":")
    config = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=arguments.threads, inter_op_parallelism_threads=2)
    tf.distribute.Server(tf.train.ClusterSpec(places), job, int(index), "grpc", config).join()


def start_servers(arguments, places):
    for job in ("ps", "worker"):
        for index in range(len(places[job])):
            environment = dict(os.environ, PACELINE_REFEREE_PLACE=f"{job}:{index}", PACELINE_REFEREE_PLACES=json.dumps(places))
            yield subprocess.Popen([sys.executable, *sys.argv], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def coordinate(tf, arguments, layers, shape, tools, places):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(places), "", "chief", 0, rpc_layer="grpc")
    strategy = tf.distribute.ParameterServerStrategy(resolver)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    with strategy.scope():
        step, parameters = make_step(tf, arguments, layers, tools)

    def batches():
        return tf.data.Dataset.from_tensors(draw(tf, arguments, layers, shape, tools, 0)).repeat()

    iterator = iter(coordinator.create_per_worker_dataset(batches))

    @tf.function
    def train_one(source):
        data, labels = next(source)
        return strategy.run(step, args=(tf.ensure_shape(data, [arguments.batch, *data.shape[1:]]), labels))

    def all_ranks():
        losses = [coordinator.schedule(train_one, args=(iterator,)) for _ in range(arguments.ranks)]
        coordinator.join()
        return sum(float(one.fetch()) for one in losses) / arguments.ranks

    return parameters, time_steps(arguments, all_ranks)


def together(tf, arguments, layers, shape, tools):
    """One parameter server and as many workers as ranks, each a process; the first of them that fails ends all."""
    places = {"chief": [f"127.0.0.1:{tools.free_port()}"], "ps": [f"127.0.0.1:{tools.free_port()}"],
              "worker": [f"127.0.0.1:{tools.free_port()}" for _ in range(arguments.ranks)]}
    servers = list(start_servers(arguments, places))
    try:
        return coordinate(tf, arguments, layers, shape, tools, places)
    finally:
        for one in servers:
            one.kill()
            one.wait()


def train(tf, arguments, tools):
    layers, shape = tools.read_layers(arguments)
    tf.random.set_seed(arguments.seed)
    if "PACELINE_REFEREE_PLACE" in os.environ:
        serve(tf, arguments, json.loads(os.environ["PACELINE_REFEREE_PLACES"]))
        return
    run = together if arguments.ranks > 1 else alone
    parameters, measured = run(tf, arguments, layers, shape, tools)
    approach = "parameter server over grpc" if arguments.ranks > 1 else ""
    tools.write_result(arguments, f"TensorFlow {tf.__version__}", approach, parameters, measured)
    sys.stdout.flush()
    os._exit(0)  # threads of the coordinator would wait for servers that have ended
