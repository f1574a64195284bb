import { type Git, quotedByGit } from '../workspace/git/git.ts';

/**
 * Keys of the user's git configuration that an isolated agent gets. A list of what is shown, not of what is hidden: logins
 * are in credential.*, http.*, url.* and any file that include.* names, and a signature needs a key that is hidden.
 */
const shown = [
  /^(user|author|committer)\.(name|email)$/,
  /^core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode|longpaths|quotepath|abbrev|whitespace|filemode|symlinks)$/,
  /^(init|pull|push|fetch|rebase|merge|rerere|branch|color|column|commit|tag|log|status|diff)\.[a-z]+$/,
  /^filter\.lfs\.(clean|smudge|process|required)$/,
  /^safe\.directory$/,
  /^http\.ssl(cainfo|capath|verify)$/,
];

/** Among those, keys that name a program or need a hidden key. */
const hidden =
  /^(commit|tag|push)\.gpgsign$|^(merge|diff)\.(tool|guitool|external)$|^push\.(recursesubmodules|pushoption)$|^commit\.template$/;

/** The configuration as text, from the output of `git config --list -z`. */
export function gitConfigurationText(listed: string): string {
  const entries = listed.split('\0').flatMap((entry) => {
    const at = entry.indexOf('\n');
    const [key, value] = at === -1 ? [entry, 'true'] : [entry.slice(0, at), entry.slice(at + 1)];
    const isShown = shown.some((pattern) => pattern.test(key)) && !hidden.test(key);
    return isShown ? [`[${sectionOf(key)}]\n\t${key.slice(key.lastIndexOf('.') + 1)} = ${quotedByGit(value)}\n`] : [];
  });
  return entries.join('');
}

/** `filter.lfs.clean` is in the section `[filter "lfs"]`. None of the keys above has a sub-section of another's making. */
function sectionOf(key: string): string {
  const [section = '', ...rest] = key.split('.').slice(0, -1);
  return rest.length === 0 ? section : `${section} "${rest.join('.')}"`;
}

/** Reads the user's configuration; an unreadable one counts as empty. */
export async function readGitConfiguration(git: Git): Promise<string> {
  try {
    const { code, stdout } = await git.ask({
      args: ['config', '--global', '--includes', '--list', '-z'],
      gitDir: null,
      network: true,
      timeoutMs: 10_000,
    });
    return code === 0 ? gitConfigurationText(Buffer.from(stdout, 'latin1').toString('utf8')) : '';
  } catch {
    return '';
  }
}
