import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/harmless-line.ts';
import type { RepositorySettings } from '../../core/settings.ts';

const longestRemark = 1_000;

/** What git says when this or that is wrong with a source, and what a person does about it. */
const knownTroubles: readonly { readonly said: RegExp; readonly what: string; readonly nextStep?: string }[] = [
  {
    said: /dubious ownership/,
    what: 'belongs to another user',
    nextStep:
      'Run `git config --global --add safe.directory` with its folder as the user that runs Baton, or give the folder to that user.',
  },
  {
    said: /Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied|returned error: 40[13]|Host key verification failed/,
    what: 'does not let Baton in',
    nextStep:
      'Give the user that runs Baton an ssh key or a credential helper for it; `git ls-remote` must work without a question.',
  },
  {
    said: /does not appear to be a git repository|not a git repository|does not exist|not found/i,
    what: 'is no git repository',
  },
  {
    said: /shallow (?:update|roots)/,
    what: 'is shallow: its history is cut off',
    nextStep: 'Run `git fetch --unshallow` in it, or name the repository that it came from.',
  },
  {
    said: /Could not resolve host|unable to access|Connection (?:refused|timed out|reset)|unable to connect|Network is unreachable/i,
    what: 'cannot be reached',
    nextStep: 'Nothing if it is rare; otherwise check the network and `workspace.repo`.',
  },
];

/** Why the source gives nothing, in words, with what git said. Never with a password. */
export function sourceUnavailable(repo: RepositorySettings, stderr: string): BatonError {
  const trouble = knownTroubles.find(({ said }) => said.test(stderr));
  const message = `The repository ${repo.shown} ${trouble?.what ?? 'could not be read'}. git said: ${remark(repo, stderr)}`;
  return new BatonError('repository_unavailable', message, {
    details: { repository: repo.shown },
    ...(trouble?.nextStep === undefined ? {} : { nextStep: trouble.nextStep }),
  });
}

export function noSuchBase(repo: RepositorySettings, message: string, nextStep: string): BatonError {
  return new BatonError('repository_unavailable', `The repository ${repo.shown} ${message}.`, {
    nextStep,
    details: { repository: repo.shown },
  });
}

/** Whether git complains about what it has on the disk, and not about what another repository told it. */
export function soundsDamaged(text: string): boolean {
  return /corrupt|bad object|bad tree|unable to read|is empty|inflate|missing (?:blob|tree|commit)|reference broken|not a git repository|cannot be accessed|does not match index|is far too short|index file .* too small|did not send all necessary objects|unable to resolve reference|packfile .* (?:wrong|truncated|does not)|non-existing object|failed to unpack tree object|not a valid object|Could not read|invalid object|unable to parse|bad config|unpack-objects/i.test(
    text,
  );
}

function remark(repo: RepositorySettings, stderr: string): string {
  const hidden = stderr.replaceAll(repo.location, repo.shown).replaceAll(/\/\/[^/@\s]+@/g, '//');
  return harmlessLine(hidden.slice(-longestRemark)) || 'nothing';
}
