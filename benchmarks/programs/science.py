"""Programs of pytorch/examples, tutorials, and about science."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from program import NUMBER, Edit, Program
from stand_ins import PANDAS, REQUESTS, SEABORN, TQDM, corpus, papers, torchvision

EXAMPLES = "pytorch/examples"

MODELS = ("LSTM", "GRU", "RNN_TANH", "Transformer")

# Policies print the length of their episodes, every tenth.
EPISODES = Edit("", "in count(1)", "in range(1, 61)")

PYTORCH_EXAMPLES: tuple[Program, ...] = (
    Program(
        "examples: regression", EXAMPLES, ("main.py",), folder="regression", seed=0, watch=True
    ),
    Program(
        "examples: mnist",
        EXAMPLES,
        ("main.py --epochs 2 --log-interval 1 --save-model",),
        folder="mnist",
        files=torchvision("mnist"),
    ),
    Program(
        "examples: mnist_rnn",
        EXAMPLES,
        ("main.py --epochs 2 --log-interval 1",),
        folder="mnist_rnn",
        files=torchvision("mnist_rnn"),
    ),
    Program(
        "examples: forward-forward",
        EXAMPLES,
        ("main.py --epochs 30 --train_size 500 --test_size 100",),
        folder="mnist_forward_forward",
        files=torchvision("mnist_forward_forward"),
    ),
    Program(
        "examples: vae",
        EXAMPLES,
        ("main.py --epochs 2 --log-interval 1 --batch-size 100",),
        folder="vae",
        files=torchvision("vae"),
    ),
    Program(
        "examples: dcgan",
        EXAMPLES,
        (
            "main.py --dataset fake --manualSeed 1 --niter 2 --batchSize 8 --ngf 16 --ndf 16"
            " --workers 2",
        ),
        folder="dcgan",
        files=torchvision("dcgan"),
        losses=r"Loss_[DG]: (\d+\.\d+)",
    ),
    *(
        Program(
            f"examples: word_language_model, {model}",
            EXAMPLES,
            (
                f"main.py --model {model} --epochs 2 --emsize 64 --nhid 64 --log-interval 5"
                + (" --lr 1" if model in ("RNN_TANH", "Transformer") else ""),
            ),
            folder="word_language_model",
            files=corpus("word_language_model/data/wikitext-2"),
            steps=5,
        )
        for model in MODELS
    ),
    Program(
        "examples: gat",
        EXAMPLES,
        ("main.py --epochs 20 --hidden-dim 16 --num-heads 2 --val-every 1",),
        folder="gat",
        files={"gat/requests.py": REQUESTS, **papers("gat/cora")},
        losses=r"loss(?:_train|_val)?:? (\d+\.\d+)",
    ),
    Program(
        "examples: gcn",
        EXAMPLES,
        ("main.py --epochs 60 --val-every 2",),
        folder="gcn",
        files={"gcn/requests.py": REQUESTS, **papers("gcn/cora")},
        losses=r"loss(?:_train|_val)?:? (\d+\.\d+)",
    ),
    *(
        Program(
            f"examples: {name}",
            EXAMPLES,
            (f"{name}.py",),
            folder="reinforcement_learning",
            edits=(Edit(f"reinforcement_learning/{name}.py", EPISODES.old, EPISODES.new),),
            watch=True,
            packages=("gymnasium",),
        )
        for name in ("reinforce", "actor_critic")
    ),
    Program(
        "examples: time_sequence_prediction",
        EXAMPLES,
        ("generate_sine_wave.py", "train.py --steps 1"),
        folder="time_sequence_prediction",
        edits=(
            Edit(
                "time_sequence_prediction/train.py",
                "torch.load('traindata.pt')",
                "torch.load('traindata.pt', weights_only=False)",
            ),
        ),
        note="PyTorch too loads arrays of NumPy with `weights_only=False` only",
        packages=("matplotlib",),
    ),
)


def _morvan(script: str, *shorter: tuple[str, str], mnist: bool = False) -> Program:
    folder = "tutorial-contents"
    return Program(
        f"PyTorch-Tutorial {script.removesuffix('.py')}",
        "MorvanZhou/PyTorch-Tutorial",
        (script,),
        folder=folder,
        edits=tuple(Edit(f"{folder}/{script}", old, new) for old, new in shorter),
        files=torchvision(folder) if mnist else {},
        seed=0,
        watch=True,
        packages=("matplotlib",),
    )


MORVAN: tuple[Program, ...] = (
    _morvan("201_torch_numpy.py"),
    _morvan("202_variable.py"),
    _morvan("203_activation.py"),
    _morvan("301_regression.py"),
    _morvan("302_classification.py"),
    _morvan("303_build_nn_quickly.py"),
    _morvan(
        "304_save_reload.py",
        ("torch.load('net.pkl')", "torch.load('net.pkl', weights_only=False)"),
    ),
    _morvan("305_batch_train.py"),
    _morvan("306_optimizer.py", ("EPOCH = 12", "EPOCH = 3")),
    _morvan("401_CNN.py", mnist=True),
    _morvan("402_RNN_classifier.py", mnist=True),
    _morvan("403_RNN_regressor.py"),
    _morvan("404_autoencoder.py", ("EPOCH = 10", "EPOCH = 2"), mnist=True),
    _morvan("405_DQN_Reinforcement_learning.py", ("range(400)", "range(60)")),
    _morvan("406_GAN.py", ("range(10000)", "range(300)")),
    _morvan("406_conditional_GAN.py", ("range(10000)", "range(300)")),
    _morvan("501_why_torch_dynamic_graph.py"),
    _morvan("502_GPU.py", mnist=True),
    _morvan("503_dropout.py"),
    _morvan("504_batch_normalization.py", ("EPOCH = 12", "EPOCH = 3")),
)


def _graykode(path: str, *shorter: tuple[str, str], note: str = "") -> Program:
    folder, _, script = path.rpartition("/")
    return Program(
        f"nlp-tutorial {script.removesuffix('.py')}",
        "graykode/nlp-tutorial",
        (f"'{script}'",),
        folder=folder,
        edits=tuple(Edit(path, old, new) for old, new in shorter),
        seed=0,
        watch=True,
        losses=r"(?:loss of|cost =) ([-+.\de]+)",
        packages=("matplotlib",),
        note=note,
    )


TWICE = (
    "each loss is there twice, so step 14 is the 7th; with float64 as the default dtype the two"
    " libraries agree in all of ten digits"
)

GRAYKODE: tuple[Program, ...] = (
    _graykode("1-1.NNLM/NNLM.py", ("range(5000)", "range(500)")),
    _graykode("1-2.Word2Vec/Word2Vec-Skipgram(Softmax).py", ("range(5000)", "range(500)")),
    _graykode("2-1.TextCNN/TextCNN.py", ("range(5000)", "range(500)")),
    _graykode("3-1.TextRNN/TextRNN.py", ("range(5000)", "range(500)")),
    _graykode("3-2.TextLSTM/TextLSTM.py", ("range(1000)", "range(300)")),
    _graykode("3-3.Bi-LSTM/Bi-LSTM.py", ("range(10000)", "range(200)")),
    _graykode("4-1.Seq2Seq/Seq2Seq.py", ("range(5000)", "range(500)")),
    _graykode(
        "4-2.Seq2Seq(Attention)/Seq2Seq(Attention).py",
        ("range(2000)", "range(300)"),
    ),
    _graykode("4-3.Bi-LSTM(Attention)/Bi-LSTM(Attention).py", ("range(5000)", "range(500)")),
    _graykode("5-1.Transformer/Transformer.py", note=TWICE),
    _graykode("5-1.Transformer/Transformer(Greedy_decoder).py", note=TWICE),
    _graykode("5-2.BERT/BERT.py", ("range(100)", "range(40)")),
)

OTHERS: tuple[Program, ...] = (
    Program(
        "torchdiffeq demo",
        "rtqichen/torchdiffeq",
        ("examples/ode_demo.py --niters 40 --test_freq 2",),
        path=(".",),
        seed=0,
        steps=2,
        packages=("scipy",),
    ),
    Program(
        "torchdiffeq demo, adjoint",
        "rtqichen/torchdiffeq",
        ("examples/ode_demo.py --niters 20 --test_freq 2 --adjoint",),
        path=(".",),
        seed=0,
        steps=2,
        packages=("scipy",),
    ),
    Program(
        "graph convolutions",
        "tkipf/pygcn",
        ("train.py --epochs 60",),
        folder="pygcn",
        files=papers("data/cora"),
        path=(".",),
        packages=("scipy",),
    ),
    Program(
        "TCN adding problem",
        "locuslab/TCN",
        ("add_test.py --cuda --seq_len 100 --epochs 1 --log-interval 2",),
        folder="TCN/adding_problem",
        edits=(Edit("TCN/adding_problem/add_test.py", "50000", "1600"),),
        seed=0,
        steps=2,
    ),
    Program(
        "mixture density network",
        "tonyduan/mixture-density-network",
        ("examples/ex_1d.py --n-iterations 300",),
        path=(".",),
        seed=0,
        watch=True,
        packages=("matplotlib",),
    ),
    Program(
        "hamiltonian-nn spring",
        "greydanus/hamiltonian-nn",
        ("experiment-spring/train.py --verbose --total_steps 100 --print_every 2",),
        edits=(Edit("utils.py", "import scipy, scipy.misc, ", "import scipy, "),),
        losses=r"loss ([-+.\de]+)",
        steps=2,
        packages=("autograd", "imageio", "scipy"),
    ),
    Program(
        "ANIML: MAML and Reptile",
        "AdrienLE/ANIML",
        ("ANIML.py",),
        notebooks=("ANIML.ipynb",),
        edits=(
            Edit("ANIML.py", "TRAIN_SIZE = 10000", "TRAIN_SIZE = 20"),
            Edit("ANIML.py", "TEST_SIZE = 1000", "TEST_SIZE = 10"),
            Edit("ANIML.py", "range(10000)", "range(1000)"),
        ),
        files={"seaborn.py": SEABORN, "pandas.py": PANDAS, "tqdm.py": TQDM},
        seed=0,
        watch=True,
        packages=("matplotlib",),
    ),
)


def _polynomial(path: str, **options: Any) -> Program:
    """A tutorial that fits a polynomial to a sine and prints `step loss`."""
    return Program(
        f"tutorials: {Path(path).stem}",
        "pytorch/tutorials",
        (Path(path).name,),
        **{
            "folder": f"beginner_source/{Path(path).parent}",
            "losses": rf"^\d+ ({NUMBER})$",
            "seed": 0,
            "steps": 100,
            **options,
        },
    )


TUTORIALS: tuple[Program, ...] = (
    _polynomial("examples_tensor/polynomial_tensor.py"),
    _polynomial("examples_autograd/polynomial_autograd.py"),
    _polynomial("examples_autograd/polynomial_custom_function.py"),
    _polynomial("examples_nn/polynomial_nn.py"),
    _polynomial("examples_nn/polynomial_optim.py"),
    _polynomial("examples_nn/polynomial_module.py"),
    _polynomial(
        "examples_nn/dynamic_net.py",
        edits=(Edit("beginner_source/examples_nn/dynamic_net.py", "range(30000)", "range(6000)"),),
        steps=2000,
    ),
)

SCIENCE: tuple[Program, ...] = (*PYTORCH_EXAMPLES, *TUTORIALS, *MORVAN, *GRAYKODE, *OTHERS)
