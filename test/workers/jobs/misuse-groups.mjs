/** Uses one group after the other in one of several ways, as other threads do. Returns how often it waited. */
import { attach, meet } from '../attach.mjs';

const ways = {
  wait: (group) => Number(group.wait()),
  done(group) {
    group.done();
    return 0;
  },
  add(group) {
    group.add();
    group.done();
    return 0;
  },
  reuse(group) {
    const first = Number(group.wait());
    ways.add(group);
    return first + Number(group.wait());
  },
};

export default function misuseGroups({ handles, index, use, barrier, parties }) {
  const groups = handles.map((handle) => attach(handle));
  meet(barrier, parties);
  return groups.reduce((sum, group) => sum + ways[use[index]](group), 0);
}
