import { notifyEvents } from '../../core/notify/notify-cause.ts';
import { isSecureEnough } from '../../core/requests/endpoint.ts';
import type { WrittenTarget } from '../../core/settings/setting.ts';
import type { NotifySettings, NotifyTarget } from '../../core/settings.ts';
import { Secret } from '../../core/text/secret.ts';
import type { PlainSettings } from '../table/setting-table.ts';
import type { Surroundings } from '../workflow-context.ts';
import { errorAt, type Report } from '../workflow-problems.ts';
import { dereference, literalSecret, notSet, resemblesReference, takenLiterally, variableNamed } from './references.ts';

const list = 'notify.targets';
/** A shorter secret can be guessed. */
const shortestSecret = 16;

interface ResolvedNotify {
  readonly settings: NotifySettings;
  /** Variables that hold addresses, secrets and commands of targets. */
  readonly secretVariables: readonly string[];
}

interface NotifyPlace {
  readonly surroundings: Surroundings;
  /** The time zone of polling. */
  readonly timeZone: string;
}

/** Resolves the `notify` section. An unset variable is an error: the messages would never arrive. */
export function resolveNotify(plain: PlainSettings['notify'], place: NotifyPlace, report: Report): ResolvedNotify {
  const written = plain.targets;
  const targets = written.flatMap((target, index) => {
    const resolved = resolveTarget(target, `${list}[${index}]`, place.surroundings, report);
    return resolved === null ? [] : [resolved];
  });
  reportRepeats(written, report);
  const { quietHours } = plain;
  const timeZone = plain.timeZone ?? place.timeZone;
  return {
    settings: { ...plain, targets, quietHours: quietHours === null ? null : { ...quietHours, timeZone }, timeZone },
    secretVariables: written.flatMap(valuesOf).flatMap((value) => variableNamed(value.trim()) ?? []),
  };
}

function resolveTarget(
  written: WrittenTarget,
  key: string,
  surroundings: Surroundings,
  report: Report,
): NotifyTarget | null {
  const value = (name: string, text: string): string | null => resolve(`${key}.${name}`, text, surroundings, report);
  const events = [...new Set(written.events ?? notifyEvents)];
  if (written.kind === 'command') {
    const run = value('run', written.run);
    if (run === null) return null;
    if (run.includes('\0')) {
      report(errorAt(`${key}.run`, `${key}.run must be text without NUL`, { problem: 'nul_character' }));
    }
    return { kind: 'command', run: variableNamed(written.run.trim()) === null ? run : new Secret(run), events };
  }
  const url = value('url', written.url);
  const allowInsecure = written.allow_insecure_endpoint ?? false;
  if (url !== null) checkAddress(`${key}.url`, url, allowInsecure, report);
  if (written.kind === 'slack') {
    if (variableNamed(written.url.trim()) === null) report(literalSecret(`${key}.url`));
    return url === null ? null : { kind: 'slack', url: new Secret(url), allowInsecure, events };
  }
  const secret = value('secret', written.secret);
  if (variableNamed(written.secret.trim()) === null) report(literalSecret(`${key}.secret`));
  if (secret !== null && secret.length < shortestSecret) {
    const message = `${key}.secret must have at least ${shortestSecret} characters`;
    report(errorAt(`${key}.secret`, message, { problem: 'too_short', least: shortestSecret }));
  }
  if (url === null || secret === null) return null;
  return { kind: 'webhook', url: new Secret(url), secret: new Secret(secret), allowInsecure, events };
}

/** Resolves a value; returns null and reports a problem when it names an unset variable. */
function resolve(key: string, written: string, surroundings: Surroundings, report: Report): string | null {
  const { text, variable } = dereference(written, surroundings);
  if (variable === null && !key.endsWith('.run') && resemblesReference(text)) report(takenLiterally(key));
  if (variable === null || text !== '') return text;
  report(notSet(key, variable));
  return null;
}

/** A whole address may be a secret, so no message shows it. */
function checkAddress(key: string, address: string, allowInsecure: boolean, report: Report): void {
  const url = URL.parse(address);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    const message = `${key} must be an address that starts with https://`;
    report(errorAt(key, message, { problem: 'unsupported_scheme', allowed: ['https', 'http'] }));
  } else if (url.username !== '' || url.password !== '') {
    const message = `${key} must be an address without a user and password, because Baton would not send them`;
    report(errorAt(key, message, { problem: 'password_in_address' }));
  } else if (!isSecureEnough(address, allowInsecure)) {
    const message = `${key} must be an https address, or http on this machine, unless allow_insecure_endpoint is true`;
    report(errorAt(key, message, { code: 'insecure_endpoint' }));
  }
}

/** A target gets each message once, so a second entry for it would have no effect. */
function reportRepeats(written: readonly WrittenTarget[], report: Report): void {
  const seen = new Set<string>();
  for (const [index, target] of written.entries()) {
    const place = `${target.kind} ${target.kind === 'command' ? target.run.trim() : target.url.trim()}`;
    const key = `${list}[${index}]`;
    if (seen.has(place))
      report(errorAt(key, `${key} repeats an earlier target; keep only one of them`, { problem: 'repeated' }));
    seen.add(place);
  }
}

function valuesOf(target: WrittenTarget): string[] {
  if (target.kind === 'command') return [target.run];
  return target.kind === 'slack' ? [target.url] : [target.url, target.secret];
}
