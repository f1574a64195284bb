import type { Logger } from '../../core/logger.ts';
import type { Git } from '../git/git.ts';
import type { GitDirectory } from '../git/git-directory.ts';
import { savedCommits } from './saved-commits.ts';
import type { Target } from './target.ts';

/** So many papers are looked into; the same tags are not kept twice, so there are few. */
const mostPapers = 50;

/**
 * The tags that saved work of other workspaces in a repository of Baton's own has already. A clone brings the tags of its source along, and they
 * are not saved again for each clone; in a repository that fetched nothing every tag is its own.
 */
export async function savedTags(
  git: Git,
  target: Target,
  { tips }: GitDirectory,
  key: string,
  logger: Logger,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const isClone = tips.some(({ name }) => name.startsWith('refs/remotes/'));
  if (!target.isOurs || !isClone || !tips.some(({ name }) => name.startsWith('refs/tags/'))) return found;
  const saved = (await savedCommits(git, target.gitDir, logger)).filter(({ work }) => !work.name.startsWith(`${key}/`));
  const papers = [...new Set(saved.flatMap(({ note }) => note.papers ?? []))];
  for (const each of papers.slice(0, mostPapers)) {
    const { code, stdout } = await git.ask({
      gitDir: target.gitDir,
      args: ['ls-tree', '-z', '--name-only', `${each}:tags`],
    });
    if (code === 0) for (const id of stdout.split('\0').slice(0, -1)) found.add(id);
  }
  return found;
}
