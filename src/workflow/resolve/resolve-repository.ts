import { normalize } from 'node:path';
import type { ProblemDetails } from '../../core/problem.ts';
import type { RepositorySettings } from '../../core/settings.ts';
import type { Surroundings } from '../workflow-context.ts';
import { errorAt, type Report } from '../workflow-problems.ts';
import { dereference, literalSecret, notSet, resemblesReference, resolvePath, takenLiterally } from './references.ts';

const key = 'workspace.repo';
const schemes = ['https', 'http', 'ssh', 'git', 'file'];

interface ResolvedRepository {
  readonly repo: RepositorySettings | null;
  readonly origin: string;
  /** Variables that hold the address, and with it a password. */
  readonly secretVariables: readonly string[];
}

/**
 * The address as git reads it, or why Baton does not pass it to git. No reason repeats the text: it may hold a
 * password.
 */
type Reading = { readonly repo: RepositorySettings; readonly hasSecret: boolean } | Refusal;

interface Refusal {
  /** Completes a sentence that begins with the key. */
  readonly refused: string;
  readonly facts: ProblemDetails;
}

/**
 * Resolves `workspace.repo` for git. Git runs programs for some addresses (`ext::`, a host that looks like an option),
 * so only the plain kinds are accepted. An unset variable is an error: without the repository an agent would have
 * nothing to work on.
 */
export function resolveRepository(
  value: string | null,
  workflowDir: string,
  surroundings: Surroundings,
  report: Report,
): ResolvedRepository {
  const none = { repo: null, origin: 'default', secretVariables: [] };
  if (value === null || value.trim() === '') return none;
  const { text: address, variable, origin } = dereference(value, surroundings);
  if (address === '') {
    report(notSet(key, variable));
    return { ...none, origin: 'file' };
  }
  const reading = readAddress(address, workflowDir, surroundings);
  if ('refused' in reading) {
    report(errorAt(key, `${key} ${reading.refused}`, reading.facts));
    return { ...none, origin };
  }
  const { repo, hasSecret } = reading;
  if (variable === null && hasSecret) report(literalSecret(key, 'password'));
  if (variable === null && repo.isLocal && resemblesReference(address)) report(takenLiterally(key));
  return { repo, origin, secretVariables: variable !== null && hasSecret ? [variable] : [] };
}

function readAddress(address: string, workflowDir: string, surroundings: Surroundings): Reading {
  if (/\p{Cc}/u.test(address)) {
    return refuse('must be a path or a URL without control characters', 'control_character');
  }
  if (address.startsWith('-'))
    return refuse('must not start with "-", because git would read it as an option', 'option');
  const helper = /^([A-Za-z0-9+.-]+)::/.exec(address)?.[1];
  if (helper !== undefined) {
    return refuse(`must not use the transport ${helper}::, which runs a program`, 'runs_program', {
      transport: helper,
    });
  }
  const url = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/(.*)$/.exec(address);
  if (url !== null) return readUrl(url[1] ?? '', url[2] ?? '');
  const colon = address.indexOf(':');
  // Like git: a colon before any slash marks a host (`git@host:path`); `./a:b` is a path.
  if (colon > 0 && !address.slice(0, colon).includes('/')) return readScpLike(address);
  return local(resolvePath(address, workflowDir, surroundings));
}

function readUrl(scheme: string, rest: string): Reading {
  if (!schemes.includes(scheme)) {
    const refused = `has the scheme ${scheme}://; allowed: ${schemes.join(', ')}, in lower case`;
    return refuse(refused, 'unsupported_scheme', { scheme, allowed: schemes });
  }
  if (scheme === 'file') return readFileUrl(rest);
  const parts = /^(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)(.*)$/.exec(rest);
  const [, user = '', host = '', path = ''] = parts ?? [];
  if (host === '' || host.startsWith('-') || user.startsWith('-')) return refuse(noHost, 'no_host');
  if (!/^(?:\[[0-9A-Fa-f:.%]+\]|[^:[\]]+)(?::\d*)?$/.test(host)) return refuse(noHost, 'no_host');
  const [name = '', ...password] = user.split(':');
  const hasPassword = password.join(':') !== '';
  const shownUser = scheme === 'ssh' && name !== '' ? `${name}@` : '';
  return {
    repo: { location: `${scheme}://${rest}`, shown: `${scheme}://${shownUser}${host}${path}`, isLocal: false },
    hasSecret: hasPassword || (scheme !== 'ssh' && name.length >= leastTokenChars),
  };
}

const noHost =
  'must name a host after ://; "/", "?", "#" and "@" in a user or password must be written as %2F, %3F, %23 and %40';

/** Some hosts accept a token in place of the user; names of people are shorter than this. */
const leastTokenChars = 20;

function readFileUrl(rest: string): Reading {
  const path = rest.replace(/^localhost(?=\/)/, '');
  if (!path.startsWith('/')) return refuse('must give a file:// URL as file:///absolute/path', 'not_absolute');
  try {
    const decoded = decodeURIComponent(path);
    if (!/\p{Cc}/u.test(decoded)) return local(normalize(decoded));
  } catch {
    // The percent-encoded bytes are not UTF-8, so this is not a path either.
  }
  return refuse('has a file:// URL that is not a valid path', 'not_a_path');
}

function readScpLike(address: string): Reading {
  const at = address.indexOf('@');
  const host = address.slice(at + 1);
  if (host.startsWith('-') || host.startsWith(':')) return refuse('must name a host before the ":"', 'no_host');
  return { repo: { location: address, shown: address, isLocal: false }, hasSecret: false };
}

function refuse(refused: string, problem: string, more: ProblemDetails = {}): Refusal {
  return { refused, facts: { problem, ...more } };
}

function local(path: string): Reading {
  return { repo: { location: path, shown: path, isLocal: true }, hasSecret: false };
}
