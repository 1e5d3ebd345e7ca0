"""A turtle in a box, after turtlesim: a ROS 2 node that knows nothing of robospec.

It speaks what rmw_zenoh speaks by way of zenoh-ros2-sdk, and needs no ROS
installation. Node /turtlesim:

    /turtle1/cmd_vel             geometry_msgs/msg/Twist, in; forgotten after 1 s
    /turtle1/odom                nav_msgs/msg/Odometry, out, 62.5 times a second
    /turtle1/bump                geometry_msgs/msg/Point, out, while it pushes against a wall
    /reset                       std_srvs/srv/Empty, puts it back to the middle
    /turtlesim/get_parameters    rcl_interfaces/srv/GetParameters
    /turtlesim/set_parameters    rcl_interfaces/srv/SetParameters: rate, in Hz

The box is 11.088889 m wide and high. ZENOH_CONFIG_OVERRIDE names the router,
such as connect/endpoints=["tcp/127.0.0.1:7447"]; ROS_DOMAIN_ID the domain. The
interface definitions are those of the ROS 2 wheels in share/ of this Python. It
ends on SIGINT, on SIGTERM and when its standard input does. TURTLE_FAULT is what
is wrong with it; FAULTS has them all.
"""

import math
import os
import signal
import sys
import threading
import time

import numpy
from zenoh_ros2_sdk import (
    ROS2Publisher,
    ROS2ServiceServer,
    ROS2Subscriber,
    ZenohSession,
    get_registry,
    load_message_type,
)

FAULTS = {
    "slow-rate": "publishes at 50 Hz whatever the parameter says",
    "drift": "slides to its left while it stands",
    "whole-angle": "makes its quaternion of the whole angle, not of half of it",
    "no-timeout": "goes on for ever with its last command",
    "bumps-on": "goes on telling that it bumps when it is told to stop",
    "reset-hangs": "never answers /reset",
    "reset-crashes": "crashes at /reset",
    "deaf-set": "says that it set the rate, and does not",
    "any-rate": "takes a rate of 0",
    "other-name": "publishes /turtle/bump",
    "other-frame": "says that its pose is in the frame world",
}
FAULT = os.environ.get("TURTLE_FAULT", "")
if FAULT and FAULT not in FAULTS:
    sys.exit(f"TURTLE_FAULT={FAULT}: there is {', '.join(FAULTS)}")

BOX = 11.088889  # m
PATIENCE = 1.0  # s, with one command
MAX_RATE = 1000.0  # Hz
NOT_SET, DOUBLE = 0, 3  # rcl_interfaces/msg/ParameterType


def message(name, **fields):
    return ZenohSession.get_instance().register_message_type(None, name)(**fields)


def vector(x=0.0, y=0.0, z=0.0, name="geometry_msgs/msg/Vector3"):
    return message(name, x=float(x), y=float(y), z=float(z))


class Turtle:
    def __init__(self):
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.rate = 62.5
        self.to_the_middle()

        node = {"node_name": "turtlesim"}
        self.odom = ROS2Publisher("/turtle1/odom", "nav_msgs/msg/Odometry", **node)
        bump = "/turtle/bump" if FAULT == "other-name" else "/turtle1/bump"
        self.bump = ROS2Publisher(bump, "geometry_msgs/msg/Point", **node)
        self.cmd_vel = ROS2Subscriber("/turtle1/cmd_vel", "geometry_msgs/msg/Twist", self.command, **node)
        self.services = [
            ROS2ServiceServer(
                f"{'' if name == 'reset' else '/turtlesim'}/{name}",
                type,
                answer,
                # The SDK cannot read .srv files that have no fields, or types of their own package.
                request_definition=request,
                response_definition=response,
                mode="queue" if FAULT == "reset-hangs" and name == "reset" else "callback",  # whence nobody takes it
                **node,
            )
            for name, type, answer, request, response in [
                ("reset", "std_srvs/srv/Empty", self.reset, "# nothing", "# nothing"),
                (
                    "get_parameters",
                    "rcl_interfaces/srv/GetParameters",
                    self.get,
                    "string[] names",
                    "rcl_interfaces/msg/ParameterValue[] values",
                ),
                (
                    "set_parameters",
                    "rcl_interfaces/srv/SetParameters",
                    self.set,
                    "rcl_interfaces/msg/Parameter[] parameters",
                    "rcl_interfaces/msg/SetParametersResult[] results",
                ),
            ]
        ]

    def to_the_middle(self):
        self.x = self.y = BOX / 2
        self.yaw = 0.0
        self.forward = self.turn = 0.0  # m/s, rad/s
        self.told = -math.inf  # when it was commanded
        self.bumping = False

    def command(self, twist):
        with self.lock:
            self.forward, self.turn, self.told = twist.linear.x, twist.angular.z, time.monotonic()

    def reset(self, _):
        if FAULT == "reset-crashes":
            print("turtle.py: assertion failed: pen != None", file=sys.stderr, flush=True)
            os._exit(3)
        with self.lock:
            self.to_the_middle()
        return message("std_srvs/srv/Empty_Response", structure_needs_at_least_one_member=0)

    def value(self, name):
        rate = name == "rate"
        return message(
            "rcl_interfaces/msg/ParameterValue",
            type=DOUBLE if rate else NOT_SET,
            bool_value=False,
            integer_value=0,
            double_value=self.rate if rate else 0.0,
            string_value="",
            byte_array_value=numpy.array([], numpy.uint8),
            bool_array_value=numpy.array([], numpy.bool_),
            integer_array_value=numpy.array([], numpy.int64),
            double_array_value=numpy.array([], numpy.float64),
            string_array_value=[],
        )

    def get(self, request):
        return message("rcl_interfaces/srv/GetParameters_Response", values=[self.value(n) for n in request.names])

    def set(self, request):
        return message(
            "rcl_interfaces/srv/SetParameters_Response",
            results=[
                message("rcl_interfaces/msg/SetParametersResult", successful=not reason, reason=reason)
                for reason in map(self.set_one, request.parameters)
            ],
        )

    def set_one(self, p):
        """Sets a parameter, or returns why not."""
        if p.name != "rate":
            return f"there is no parameter {p.name}; there is rate"
        if p.value.type != DOUBLE:
            return "rate is a double, in Hz"
        hz = p.value.double_value
        if FAULT == "any-rate":
            hz = max(hz, 1.0)
        elif not 0 < hz <= MAX_RATE:
            return f"a rate of {hz:g} Hz is not above 0 and at most {MAX_RATE:g}"
        if FAULT != "deaf-set":
            self.rate = hz
        return ""

    def step(self, now, dt):
        """Moves it for dt seconds until now; whether it pushes against a wall."""
        stands = now - self.told > PATIENCE and FAULT != "no-timeout"
        if stands:
            self.forward = self.turn = 0.0
        left = 0.02 if FAULT == "drift" and self.forward == 0 else 0
        self.yaw = math.remainder(self.yaw + self.turn * dt, math.tau)
        ahead, aside = (math.cos(self.yaw), math.sin(self.yaw)), (-math.sin(self.yaw), math.cos(self.yaw))
        x, y = (at + (self.forward * f + left * l) * dt for at, f, l in zip((self.x, self.y), ahead, aside))
        self.x, self.y = min(max(x, 0), BOX), min(max(y, 0), BOX)
        bumps = (x, y) != (self.x, self.y)
        self.bumping = bumps or self.bumping and FAULT == "bumps-on"
        return self.bumping

    def publish(self, bumps):
        half = self.yaw if FAULT == "whole-angle" else self.yaw / 2
        now = time.time_ns()
        stamp = message("builtin_interfaces/msg/Time", sec=now // 10**9, nanosec=now % 10**9)
        position = vector(self.x, self.y, name="geometry_msgs/msg/Point")
        orientation = message("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=math.sin(half), w=math.cos(half))
        twist = message("geometry_msgs/msg/Twist", linear=vector(self.forward), angular=vector(z=self.turn))
        unknown = numpy.zeros(36)  # both covariances
        self.odom.publish(
            header=message("std_msgs/msg/Header", stamp=stamp, frame_id="world" if FAULT == "other-frame" else "odom"),
            child_frame_id="turtle1",
            pose=message(
                "geometry_msgs/msg/PoseWithCovariance",
                pose=message("geometry_msgs/msg/Pose", position=position, orientation=orientation),
                covariance=unknown,
            ),
            twist=message("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=unknown),
        )
        if bumps:
            self.bump.publish(x=self.x, y=self.y, z=0.0)

    def run(self):
        self.publish(False)  # which makes the codec of the message, and takes its time
        print("ready", flush=True)
        due = time.monotonic()
        while not self.over.wait(max(0, due - time.monotonic())):
            dt = 1 / (50.0 if FAULT == "slow-rate" else self.rate)
            due += dt
            with self.lock:
                self.publish(self.step(due, dt))


def main():
    session = ZenohSession.get_instance()
    get_registry(os.path.join(sys.prefix, "share"))
    for name in "Parameter", "SetParametersResult":
        load_message_type("rcl_interfaces/msg/" + name)
    # The SDK makes a node for each endpoint; rclpy has one for all.
    session.get_next_node_id = lambda: 0

    turtle = Turtle()
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, lambda *_: turtle.over.set())

    def watch():
        while os.read(0, 1024):
            pass
        turtle.over.set()

    threading.Thread(target=watch, daemon=True).start()
    try:
        turtle.run()
    finally:
        session.close()
    print("bye", flush=True)


main()
