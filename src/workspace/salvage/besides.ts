import type { Git } from '../git/git.ts';
import { unsaved } from './find-repositories.ts';
import { cachedCommits, type HistoryRequest, inTarget, salvageReferences } from './history.ts';
import { objectsIn } from './objects-in.ts';

/** Objects that names hold and that are no commits. Nothing but a name can hold a tag, so its text is kept. */
export interface Besides {
  /** The text of each tag, one character a byte. */
  readonly tags: ReadonlyMap<string, string>;
  /** Files and trees, with their types. */
  readonly objects: ReadonlyMap<string, string>;
}

/** Tags of tags; git itself makes none. */
const mostSteps = 10;

/** Reads what is held besides commits, as far as no name of the target, or of the cache it borrows from, holds it. */
export async function readBesides(
  git: Git,
  request: HistoryRequest,
  held: ReadonlyMap<string, string>,
): Promise<Besides> {
  const tags = new Map<string, string>();
  const objects = new Map<string, string>();
  if (held.size === 0) return { tags, objects };
  const known = await heldByTarget(git, request);
  let asked: string[] = [];
  const take = (id: string, type: string): void => {
    if (known.has(id) || type === 'commit') return;
    if (type !== 'tag') objects.set(id, type);
    else if (!tags.has(id)) asked.push(id);
  };
  for (const [id, type] of held) take(id, type);
  for (let step = 0; asked.length > 0; step += 1) {
    if (step > mostSteps) throw unsaved('objects_unreadable', 'a tag names too many tags');
    const text = await git.run({
      ...inTarget(request.target, request.store, request.signal),
      args: ['cat-file', '--batch'],
      stdin: `${asked.join('\n')}\n`,
    });
    const wanted = new Set(asked);
    asked = [];
    for (const { id, content } of objectsIn(text)) {
      tags.set(id, content);
      wanted.delete(id);
      const [, named, type] = /^object ([0-9a-f]+)\ntype ([a-z]+)\n/.exec(content) ?? [];
      if (named === undefined || type === undefined)
        throw unsaved('objects_unreadable', `the tag ${id} cannot be understood`);
      take(named, type);
    }
    const [missing] = wanted;
    if (missing !== undefined) throw unsaved('objects_unreadable', `the tag ${missing} cannot be read`);
  }
  return { tags, objects };
}

async function heldByTarget(git: Git, { target, tags, signal }: HistoryRequest): Promise<Set<string>> {
  const text = await git.run({
    gitDir: target.gitDir,
    args: ['for-each-ref', '--format=%(objectname) %(refname)'],
    ...(signal === undefined ? {} : { signal }),
  });
  const lines = text.split('\n').map((line) => line.split(' '));
  const own = lines.filter(([, name = salvageReferences]) => !name.startsWith(salvageReferences));
  return new Set([...tags, ...own.map(([id = '']) => id), ...(target.isOurs ? await cachedCommits(git, target) : [])]);
}
