import type { Author } from '../../core/issue/author.ts';
import type { Git } from '../../workspace/git/git.ts';

/** Who a person is to git. */
export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** By whom a merge is: the person, or Baton where it merges itself. Null where git knows no one. */
export async function identityOf({ by }: { readonly by: Author }, git: Git, common: string): Promise<Identity | null> {
  return by.kind === 'orchestrator' ? { name: 'Baton', email: 'baton@localhost.invalid' } : personIdentity(git, common);
}

/**
 * The identity that git would use for the person in this repository: its own configuration, then the person's. Never an
 * agent's, whose identity is in the git directory of its workspace. Null where git knows none. Nothing is run: the call
 * reads files, and the daemon's own variables such as `GIT_AUTHOR_NAME` do not reach it.
 */
async function personIdentity(git: Git, common: string): Promise<Identity | null> {
  const configured = async (key: string): Promise<string> => {
    const { stdout } = await git.ask({
      args: ['config', '--includes', '--get', key],
      gitDir: common,
      // With the configuration of the person, which only calls with a network get.
      network: true,
      timeoutMs: 10_000,
    });
    // Git removes these characters from names too: they end a name, or a line.
    return Buffer.from(stdout, 'latin1')
      .toString('utf8')
      .replaceAll(/[<>\0\n\r]+/g, ' ')
      .trim();
  };
  const [name, email] = [await configured('user.name'), await configured('user.email')];
  return name === '' || email === '' ? null : { name, email };
}
