package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// ROSShare is the share folder of the ROS 2 Jazzy wheels, which holds the
// interface packages with their definitions and type hashes. They stand beside
// the Python of Python, which can import rclpy and rosbags, too.
func ROSShare(tb testing.TB) string {
	tb.Helper()
	share := filepath.Join(filepath.Dir(filepath.Dir(Python(tb))), "share")
	if _, err := os.Stat(filepath.Join(share, "test_msgs", "msg")); err != nil {
		Missing(tb, "the ROS 2 interface packages", "run .ci/run once, or .venv/bin/python -m pip install -r .ci/requirements.txt")
	}
	return share
}

// ROSPython is a Python that can run ROS 2 nodes without a ROS installation, on
// zenoh-ros2-sdk, and has the interface packages of ROSShare.
func ROSPython(tb testing.TB) string {
	tb.Helper()
	python := Python(tb)
	if !imports(python, "zenoh_ros2_sdk") {
		Missing(tb, "a Python with zenoh-ros2-sdk", "run .ci/run once, or .venv/bin/python -m pip install -r .ci/requirements.txt")
	}
	ROSShare(tb)
	return python
}
