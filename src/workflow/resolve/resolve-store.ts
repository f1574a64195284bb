import { isLoopback } from '../../core/requests/endpoint.ts';
import { Secret } from '../../core/text/secret.ts';
import type { Surroundings } from '../workflow-context.ts';
import { errorAt, type Report, warningAt } from '../workflow-problems.ts';
import { dereference, literalSecret, lookUp, notSet } from './references.ts';

const key = 'store.url';
const fallback = 'BATON_DATABASE_URL';

interface ResolvedStoreUrl {
  readonly url: Secret | null;
  readonly origin: string;
  /** Variables that may hold the address, and with it a password. */
  readonly variables: readonly string[];
}

/** `store.url`, else the variable BATON_DATABASE_URL, else none. It may hold a password, so all of it is a secret. */
export function resolveStoreUrl(value: string | null, surroundings: Surroundings, report: Report): ResolvedStoreUrl {
  const { text, variable, origin } = dereference(value ?? '', surroundings);
  const variables = variable === null ? [fallback] : [fallback, variable];
  if (text === '') {
    if (variable !== null) report(notSet(key, variable));
    const outside = lookUp(surroundings.env, fallback)?.trim() ?? '';
    const found = outside === '' ? null : new Secret(outside);
    warnIfReadable(outside, report);
    return { url: found, origin: found === null ? 'default' : `environment $${fallback}`, variables };
  }
  if (!/^(?:sqlite|postgres|postgresql):/.test(text)) {
    const message = `${key} must start with sqlite: or postgres:`;
    report(errorAt(key, message, { problem: 'unsupported_scheme', allowed: ['sqlite', 'postgres'] }));
  }
  if (variable === null && /:\/\/[^/@]*:[^/@]*@/.test(text)) report(literalSecret(key, 'password'));
  warnIfReadable(text, report);
  return { url: new Secret(text), origin, variables };
}

/** Who can change what travels to the store can act as anyone. The address is a secret, so no message shows it. */
function warnIfReadable(address: string, report: Report): void {
  const url = /^postgres(?:ql)?:/i.test(address) ? URL.parse(address) : null;
  if (url === null) return;
  const { hostname, searchParams } = url;
  const host = searchParams.get('host') ?? hostname;
  const isHere = host === '' || host.startsWith('/') || host.startsWith('%2F') || isLoopback(host);
  const mode = searchParams.get('sslmode') ?? '';
  if (isHere || ['require', 'verify-ca', 'verify-full'].includes(mode) || searchParams.get('ssl') === 'true') return;
  const message = `${key} leads to another machine without TLS: anyone on the way can read and change the store`;
  report(warningAt(key, message, { code: 'insecure_store' }));
}
