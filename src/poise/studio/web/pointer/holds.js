// Drags of a pointer: each has the messages to send at the press (begin), during the drag (drag) and at the release (end).

import { THREE } from "nicegui-scene";

let gestures = 0;
const gesture = () => `${Date.now()}-${(gestures += 1)}`;
const wxyz = ({ x, y, z, w }) => [w, x, y, z];

// A function of pointer events that returns the pointer's position in the plane through a point that faces the view.
function inPlane(view, from) {
  const facing = view.camera.getWorldDirection(new THREE.Vector3());
  const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(facing, from);
  const caster = new THREE.Raycaster();
  return (event) => {
    caster.setFromCamera(view.spot(event), view.camera);
    return caster.ray.intersectPlane(plane, new THREE.Vector3());
  };
}

export function holdBody(view, hit, place) {
  const at = inPlane(view, hit.point);
  return {
    begin: { do: "press", ...place },
    drag: (event) => ({ do: "drag", at: at(event)?.toArray() }),
    end: { do: "release" },
  };
}

// With Alt, the target snaps to the mark or the surface under the pointer; selected targets move together.
export function holdTarget(view, target, { selection, snap }) {
  const [at, mine] = [inPlane(view, target.wanted), gesture()];
  const { task, moves } = target;
  const others = selection.together().includes(task) ? selection.together().filter((other) => other !== task) : [];
  const place = (event) => (event.altKey ? snap(view, event, task) : null) ?? at(event);
  return {
    select: { task },
    drag: (event) => (moves ? { do: "aim", task, with: others, at: place(event)?.toArray(), gesture: mine } : null),
  };
}

export function holdObstacle(view, number, thing, point) {
  const [at, mine] = [inPlane(view, point), gesture()];
  const [from, rotation] = [thing.position.clone(), wxyz(thing.quaternion)];
  return {
    select: { obstacle: number },
    drag: (event) => {
      const position = at(event)?.sub(point).add(from).toArray();
      return { do: "obstacle", obstacle: number, at: position, rotation, gesture: mine };
    },
  };
}

// The tip of the arrow of a force or torque; `scale` is the arrow's length per newton or newton metre [m].
export function holdArrow(view, { load, part, from, to, scale }) {
  const [at, mine] = [inPlane(view, to), gesture()];
  return {
    drag: (event) => {
      const arrow = at(event)?.sub(from).divideScalar(scale).toArray();
      return { do: "force", force: load, part, arrow, at: arrow, gesture: mine };
    },
  };
}

export function holdHandle(view, found, selection, press) {
  const moved = selection.gizmo.drag(view, found, press);
  const { handle } = found;
  if (selection.what.joint !== undefined) {
    const { freedom } = handle;
    return {
      begin: { do: "grip", freedom },
      drag: (event) => ({ do: "twist", freedom, at: true, amount: moved(event) }),
      end: { do: "release" },
    };
  }
  return holdFrame(handle, selection, moved);
}

// A handle of a target or an obstacle: position and rotation change relative to those at the press.
function holdFrame(handle, { what, gizmo, stage }, moved) {
  const mine = gesture();
  const from = gizmo.place.clone();
  const axis = handle.axis.clone();
  const number = what.task ?? what.obstacle;
  const old =
    what.task === undefined
      ? stage.obstacles.thing(number).quaternion.clone()
      : stage.overlays.targets.find((each) => each.task === number).turn.clone();
  const words = what.task === undefined ? { do: "obstacle", obstacle: number } : { do: "aim", task: number };
  return {
    drag: (event) => {
      const amount = moved(event);
      if (handle.kind === "move") {
        return { ...words, at: from.clone().addScaledVector(axis, amount).toArray(), rotation: wxyz(old), gesture: mine };
      }
      const turned = new THREE.Quaternion().setFromAxisAngle(axis, amount).multiply(old);
      return { ...words, at: from.toArray(), rotation: wxyz(turned), gesture: mine };
    },
  };
}
