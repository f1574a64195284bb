import { stat } from 'node:fs/promises';
import path from 'node:path';
import { BatonError } from '../../../core/baton-error.ts';
import type { RepositorySettings } from '../../../core/settings.ts';
import { harmlessLine } from '../../../core/text/harmless-line.ts';
import { hasCode, lstatOrNull } from '../../file-system.ts';
import { findRepositoryAbove } from './find-repository-above.ts';

const longestRemark = 1_000;

/** The problem of a source, for programs: `details.problem` of `repository_unavailable`. */
type SourceProblem =
  | 'other_owner'
  | 'access_denied'
  | 'not_a_repository'
  | 'shallow'
  | 'unreachable'
  | 'unreadable'
  // a path of this machine
  | 'path_not_found'
  | 'dangling_link'
  | 'path_is_file'
  | 'folder_in_repository'
  | 'no_repository'
  // its references
  | 'no_commit'
  | 'detached_head'
  | 'unborn_head'
  | 'no_such_branch';

interface Trouble {
  readonly said: RegExp;
  readonly problem: SourceProblem;
  readonly what: string;
  readonly nextStep?: string;
  /** Where another one helps with a folder of this machine. */
  readonly localNextStep?: string;
}

const noRepository: Trouble = {
  said: /does not appear to be a git repository|not a git repository|invalid gitfile|does not exist|not found/i,
  problem: 'not_a_repository',
  what: 'is not a git repository',
  nextStep: 'Check `workspace.repo`. Some hosts also say this when you have no access to the repository.',
  localNextStep: 'Check `workspace.repo`. If it is right, run `git status` in that folder.',
};

const shallow: Trouble = {
  said: /shallow (?:update|roots)/,
  problem: 'shallow',
  what: 'is shallow: its history is cut off',
  nextStep: 'Run `git fetch --unshallow` in it, or set `workspace.repo` to the repository that it was cloned from.',
};

/** The messages of git for each problem with a source, and the next step for a person. */
const knownTroubles: readonly Trouble[] = [
  {
    said: /dubious ownership/,
    problem: 'other_owner',
    what: 'belongs to another user',
    nextStep:
      'As the user that runs Baton, run `git config --global --add safe.directory FOLDER` for its folder, or make that user the owner.',
  },
  {
    said: /Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied|returned error: 40[13]|Host key verification failed/,
    problem: 'access_denied',
    what: 'refuses access',
    nextStep:
      'Give the user that runs Baton an ssh key or a credential helper for it. `git ls-remote` must work without a prompt.',
    localNextStep: 'Give the user that runs Baton read access to the whole folder.',
  },
  noRepository,
  shallow,
  {
    said: /Could not resolve host|unable to access|Connection (?:refused|timed out|reset|closed)|Operation timed out|unable to connect|Network is unreachable|No route to host/i,
    problem: 'unreachable',
    what: 'cannot be reached',
    nextStep: 'Baton retries. If this happens often, check the network and `workspace.repo`.',
  },
];

/** Why a fetch returned nothing, or not everything. */
export interface FetchFailure {
  readonly said: string;
  /** The source has a cut history, and git left a branch out without a word. */
  readonly isShallow: boolean;
}

/** Why the source cannot be read, in words, with the message of git. Never with a password. */
export function sourceUnavailable(repo: RepositorySettings, { said, isShallow }: FetchFailure): BatonError {
  const trouble = isShallow ? shallow : knownTroubles.find((each) => each.said.test(said));
  const message = `The repository ${repo.shown} ${trouble?.what ?? 'could not be read'}. git said: ${remark(repo, said)}`;
  const nextStep = (repo.isLocal ? trouble?.localNextStep : undefined) ?? trouble?.nextStep;
  return new BatonError('repository_unavailable', message, {
    details: { repository: repo.shown, problem: trouble?.problem ?? 'unreadable' },
    ...(nextStep === undefined ? {} : { nextStep }),
  });
}

/** The same; where git only says that a local path is not a repository, adds what is there instead. */
export async function whyUnreadable(repo: RepositorySettings, stderr: string): Promise<BatonError> {
  const isMissing = repo.isLocal && knownTroubles.find(({ said }) => said.test(stderr)) === noRepository;
  const found = isMissing ? await whatIsThere(repo.location) : null;
  return found === null ? sourceUnavailable(repo, { said: stderr, isShallow: false }) : unusableSource(repo, found);
}

/** Null where git knows better. */
async function whatIsThere(location: string): Promise<SourceTrouble | null> {
  const fix = 'Fix `workspace.repo`. A relative path starts at the folder of the workflow file.';
  try {
    const found = await stat(location);
    if (!found.isDirectory()) {
      return { problem: 'path_is_file', what: 'is a file, not a git repository', nextStep: fix };
    }
    const above = await findRepositoryAbove(location);
    // It has a `.git`, but git does not accept it: only git can say why.
    if (above === location || (await lstatOrNull(path.join(location, 'HEAD'))) !== null) return null;
    if (above !== null) {
      const what = `is a folder inside the git repository ${harmlessLine(above)}, not a repository itself`;
      const nextStep = 'Set `workspace.repo` to that repository, or run `git init` here to make a separate one.';
      return { problem: 'folder_in_repository', facts: { top_level: above }, what, nextStep };
    }
    const nextStep = 'Run `git init` and make a first commit there, or set `workspace.repo` to another repository.';
    return { problem: 'no_repository', what: 'is a folder without a git repository', nextStep };
  } catch (error) {
    if (!hasCode(error, 'ENOENT') && !hasCode(error, 'ENOTDIR')) return null;
    const isLink = (await lstatOrNull(location).catch(() => null)) !== null;
    return isLink
      ? { problem: 'dangling_link', what: 'is a broken symbolic link', nextStep: fix }
      : { problem: 'path_not_found', what: 'does not exist', nextStep: fix };
  }
}

/** Something that Baton itself found wrong with a source. */
interface SourceTrouble {
  readonly problem: SourceProblem;
  readonly facts?: Readonly<Record<string, unknown>>;
  /** Completes the sentence "The repository X …". */
  readonly what: string;
  readonly nextStep: string;
}

export function unusableSource(
  repo: RepositorySettings,
  { problem, facts, what, nextStep }: SourceTrouble,
): BatonError {
  return new BatonError('repository_unavailable', `The repository ${repo.shown} ${what}.`, {
    nextStep,
    details: { repository: repo.shown, problem, ...facts },
  });
}

/** Whether git complains about its own files on the disk, and not about a message of another repository. */
export function soundsDamaged(text: string): boolean {
  const own = text.replaceAll(/^remote: .*$|Could not read from remote repository/gm, '');
  return /corrupt|bad object|bad tree|unable to read|is empty|inflate|missing (?:blob|tree|commit)|reference broken|not a git repository|cannot be accessed|does not match index|is far too short|index file .* too small|did not send all necessary objects|unable to resolve reference|packfile .* (?:wrong|truncated|does not)|non-existing object|failed to unpack tree object|not a valid object|Could not read|invalid object|unable to parse|bad config|unpack-objects/i.test(
    own,
  );
}

/** Lines that git adds to every problem with a source. */
const noise =
  /^(?:fatal: Could not read from remote repository\.|Please make sure you have the correct access rights|and the repository exists\.)$/gm;

function remark(repo: RepositorySettings, stderr: string): string {
  const telling = stderr.replaceAll(noise, '').trim() === '' ? stderr : stderr.replaceAll(noise, '');
  const hidden = telling.replaceAll(repo.location, repo.shown).replaceAll(/\/\/[^/@\s]+@/g, '//');
  return harmlessLine(hidden.slice(-longestRemark)) || 'nothing';
}
