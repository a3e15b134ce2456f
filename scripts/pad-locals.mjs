/**
 * Works around a fault of V8's baseline compiler (seen in Node 20.20, x64). memory.atomic.wait32 and wait64 widen their
 * address on the operand stack from 32 to 64 bits. By this they overwrite four bytes of the slot before the address. If
 * no other operand is on the stack, this slot is the function's last local. After the wait, a local of 32 bits is 0,
 * and a local of 64 bits has lost a half.
 *
 * So this script gives each function with such an instruction one more local of 64 bits, behind all others. No code
 * uses this local, so its loss does no harm. If another operand lay on the stack below those of the instruction, this
 * operand would be overwritten instead. If there is such an operand, the build fails.
 */
const CODE = 10;
const I64 = 0x7e;
/** The prefix of the atomic instructions, and the second bytes of wait32 and wait64. */
const ATOMIC = 0xfe;
const WAITS = [0x01, 0x02];

/** Returns the module with one more local in every function that waits. */
export function padLocals(bytes) {
  let at = 8;
  const out = [...bytes.subarray(0, at)];
  const number = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const id = bytes[at++];
    const size = number();
    const end = at + size;
    if (id !== CODE) {
      out.push(id, ...leb(size), ...bytes.subarray(at, end));
    } else {
      const functions = number();
      const section = leb(functions);
      for (let f = 0; f < functions; f++) {
        const bodyEnd = number() + at;
        const waits = bytes
          .subarray(at, bodyEnd)
          .some((byte, i) => byte === ATOMIC && WAITS.includes(bytes[at + i + 1]));
        const body = [];
        if (waits) {
          const groups = number();
          body.push(...leb(groups + 1));
          for (let g = 0; g < groups; g++) body.push(...leb(number()), bytes[at++]);
          body.push(1, I64);
        }
        body.push(...bytes.subarray(at, bodyEnd));
        section.push(...leb(body.length), ...body);
        at = bodyEnd;
      }
      out.push(id, ...leb(section.length), ...section);
    }
    at = end;
  }
  return Uint8Array.from(out);
}

/** The forms that leave no operand of their own on the stack while a part of them is evaluated. */
const STATEMENTS = new Set(['module', 'func', 'block', 'loop', 'if', 'then', 'else']);
const NO_OPERANDS = new Set(['param', 'result', 'local', 'type']);

/** Returns the functions of a module, given as text, in which an operand lies on the stack below those of a wait. */
export function waitsOverOperands(text) {
  const found = new Set();
  const open = [];
  let current = '';
  for (const [token, op, name] of text.matchAll(/\(([^\s()]+)(?: (\$[^\s()]+))?|\)/g)) {
    if (token === ')') {
      open.pop();
      continue;
    }
    if (op === 'func') current = name;
    const outer = open.at(-1);
    const below = outer !== undefined && (outer.below || (!STATEMENTS.has(outer.op) && outer.operands > 0));
    if (below && op.startsWith('memory.atomic.wait')) found.add(current);
    if (outer !== undefined && !NO_OPERANDS.has(op)) outer.operands++;
    open.push({ op, below, operands: 0 });
  }
  return [...found];
}

function leb(value) {
  const bytes = [];
  for (; value > 0x7f; value >>>= 7) bytes.push((value & 0x7f) | 0x80);
  bytes.push(value);
  return bytes;
}
