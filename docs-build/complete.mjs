/**
 * A plugin of TypeDoc, which links the errors of `@throws {DisposedError} if ...` to their classes, and checks the
 * docstrings of public symbols. The docstring of a method or function must say
 * whether it blocks, and what it throws. The docstring of a number must give its range. The docstring of a class must
 * name the source of its algorithm, and must have an example. What version 0.2.0 did not have says since when it is there.
 */
import { readFileSync } from 'node:fs';
import { Application, Converter, ReflectionKind } from 'typedoc';

/** The classes, functions and values of version 0.2.0, by entries. */
const FIRST = JSON.parse(readFileSync(new URL('of-0.2.0.json', import.meta.url), 'utf8'));
/** What has a version. Types come with the classes and functions that use them. */
const DATED = ReflectionKind.Class | ReflectionKind.Function | ReflectionKind.Variable;

const CALLS = [ReflectionKind.CallSignature, ReflectionKind.ConstructorSignature];
/** Classes that need not name the source of an algorithm. */
const PLAIN = /Error$|^Held|^Arena$/;
/** Methods that the language itself calls. */
const HOOK = /^\[(async)?[dD]ispose\]$/;

export function load(app) {
  // Only the main entry exports the errors, but docstrings of all entries link to them by their names.
  app.converter.addUnknownSymbolResolver(({ symbolReference }, reflection) => {
    const name = symbolReference?.path?.at(-1)?.path;
    if (!name?.endsWith('Error')) return undefined;
    const isIt = (it) => it.kind === ReflectionKind.Class && it.name === name;
    const target = Object.values(reflection.project.reflections).find(isIt);
    return target && { target, caption: name };
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const { comment } of Object.values(project.reflections)) comment?.blockTags.forEach(nameErrors);
  });
  app.on(Application.EVENT_VALIDATE_PROJECT, (project) => {
    const warn = (reflection, what) =>
      app.logger.warn(`${reflection.getFriendlyFullName()}: the docstring does not say ${what}`);
    for (const reflection of Object.values(project.reflections)) {
      const comment = text(reflection);
      if (comment === '') continue; // TypeDoc warns of that itself
      if (CALLS.includes(reflection.kind)) checkCall(reflection, comment, warn);
      if (reflection.kindOf(ReflectionKind.Class) && !PLAIN.test(reflection.name)) {
        if (!/Source:|library's own/.test(comment)) warn(reflection, 'where the algorithm is from (Source: ...)');
      }
      if (reflection.kindOf(ReflectionKind.Class) && !/Error$/.test(reflection.name) && !/@example|```/.test(comment)) {
        warn(reflection, 'how it is used (@example)');
      }
      if (isNew(reflection) && !/^@since /m.test(comment)) {
        warn(reflection, 'since when it is there (@since)');
      }
      if (reflection.kindOf(ReflectionKind.Property) && /Options$/.test(reflection.parent?.name ?? '')) {
        if (isNumber(reflection.type) && !/\d/.test(comment)) warn(reflection, 'its range');
      }
    }
  });
}

/** Whether this is a class, function or value that version 0.2.0 did not have in its entry. */
function isNew(reflection) {
  // The docstring of a function is that of its call.
  const it = reflection.kindOf(ReflectionKind.CallSignature) ? reflection.parent : reflection;
  const { name, parent } = it;
  return it.kindOf(DATED) && parent?.kindOf(ReflectionKind.Module) && !FIRST[parent.name]?.includes(name);
}

/** Moves the errors of a tag, such as {RangeError | DisposedError}, into its text, with a link to each of the library. */
function nameErrors(tag) {
  const names = tag.typeAnnotation?.slice(1, -1).split(' | ') ?? [];
  const parts = names.map((name) =>
    name in globalThis ? { kind: 'code', text: `\`${name}\`` } : { kind: 'inline-tag', tag: '@link', text: name },
  );
  tag.content.unshift(...parts.flatMap((part) => [part, { kind: 'text', text: part === parts.at(-1) ? ' ' : ' or ' }]));
  tag.typeAnnotation = undefined;
}

function checkCall(signature, comment, warn) {
  const { parent: owner } = signature.parent;
  if (HOOK.test(signature.name) || owner.name === '__type' || /Error$/.test(owner.name)) return;
  // A docstring that begins with "As `acquire`, ..." or "Does what `acquire` does, ..." need not repeat what the
  // docstring of `acquire` says.
  const [, name] = comment.match(/^(?:As|Does what) `(\w+)`/) ?? [];
  const model = name && modelOf(signature, name);
  if (name && !model) warn(signature, `what it is like: there is no ${name}`);
  if (!model) {
    if (signature.kind === ReflectionKind.CallSignature && !/block/i.test(comment))
      warn(signature, 'whether it blocks');
    if (!/@throws|rejects|throws\s+nothing/i.test(comment)) warn(signature, 'what it throws (@throws)');
  }
  for (const parameter of signature.parameters ?? []) {
    const isThere = model?.parameters?.some(({ name }) => name === parameter.name);
    if (isNumber(parameter.type) && !isThere && !/\d/.test(text(parameter)))
      warn(signature, `the range of ${parameter.name} (@param)`);
  }
}

/** Returns the signature of this name in the same class, or in the module. */
function modelOf(signature, name) {
  for (let scope = signature.parent.parent; scope; scope = scope.parent) {
    const found = scope.children?.find((child) => child.name === name);
    if (found?.signatures) return found.signatures[0];
  }
}

function isNumber(type) {
  const types = type?.type === 'union' ? type.types : [type];
  return types.some(({ type: kind, name }) => kind === 'intrinsic' && (name === 'number' || name === 'bigint'));
}

/** Returns the whole text of the comment, with the names of its tags. */
function text({ comment }) {
  if (!comment) return '';
  const joined = (parts) => parts.map((part) => part.text).join('');
  const tags = comment.blockTags.map(({ tag, content }) => `${tag} ${joined(content)}`);
  return [joined(comment.summary), ...tags].join('\n').trim();
}
