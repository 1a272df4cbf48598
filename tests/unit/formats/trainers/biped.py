"""A small robot with a floating base for the tests of trainers' formats, as MJCF that MuJoCo reads too."""

ROBOT = """<mujoco model="biped">
<worldbody>
<body name="pelvis" pos="0 0 0.9"><freejoint name="float"/>
 <inertial pos="0.01 0 0.05" mass="8" diaginertia="0.1 0.1 0.1"/><geom type="box" size="0.1 0.1 0.1"/>
 <body name="left_hip_link" pos="0 0.1 -0.1"><joint name="left_hip_joint" axis="0 1 0" range="-90 90"/>
  <inertial pos="0 0.02 -0.2" mass="3" diaginertia="0.02 0.02 0.02"/>
  <body name="left_knee_link" pos="0 0 -0.4"><joint name="left_knee_joint" axis="0 1 0" pos="0 0 0.02" range="0 120"/>
   <inertial pos="0.03 0 -0.2" mass="2" diaginertia="0.02 0.02 0.02"/>
   <body name="left_foot_link" pos="0 0 -0.4"><joint name="left_ankle_joint" axis="0 1 0" range="-60 60"/>
    <inertial pos="0.05 0 -0.02" mass="1" diaginertia="0.01 0.01 0.01"/>
    <geom type="box" size="0.1 0.04 0.02" pos="0.04 0 -0.03"/></body></body></body>
 <body name="right_hip_link" pos="0 -0.1 -0.1" euler="0 0 10">
  <joint name="right_hip_joint" axis="0 1 0" range="-90 90"/>
  <inertial pos="0 -0.02 -0.2" mass="3" diaginertia="0.02 0.02 0.02"/>
  <body name="right_knee_link" pos="0 0 -0.4"><joint name="right_knee_joint" axis="0 1 0" range="0 120"/>
   <inertial pos="0.03 0 -0.2" mass="2" diaginertia="0.02 0.02 0.02"/>
   <body name="right_foot_link" pos="0 0 -0.4"><joint name="right_ankle_joint" axis="0 1 0" range="-60 60"/>
    <inertial pos="0.05 0 -0.02" mass="1" diaginertia="0.01 0.01 0.01"/>
    <geom type="box" size="0.1 0.04 0.02" pos="0.04 0 -0.03"/></body></body></body>
 <body name="chest_link" pos="0 0 0.2"><joint name="waist_joint" axis="0 0 1" range="-90 90"/>
  <inertial pos="0 0 0.1" mass="6" diaginertia="0.1 0.1 0.1"/>
  <body name="camera_link" pos="0.1 0 0.2"><inertial pos="0 0 0" mass="0.2" diaginertia="0.001 0.001 0.001"/></body>
  <body name="left_arm_link" pos="0 0.2 0.2"><joint name="left_arm_joint" axis="0 1 0" range="-170 170"/>
   <inertial pos="0 0 -0.2" mass="2" diaginertia="0.01 0.01 0.01"/></body>
  <body name="right_arm_link" pos="0 -0.2 0.2">
   <joint name="right_arm_slide" type="slide" axis="0 0 1" range="-0.2 0.2"/>
   <inertial pos="0 0 -0.2" mass="2" diaginertia="0.01 0.01 0.01"/></body></body>
</body></worldbody></mujoco>"""
