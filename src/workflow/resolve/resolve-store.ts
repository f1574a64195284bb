import { Secret } from '../../core/text/secret.ts';
import type { Surroundings } from '../workflow-context.ts';
import { errorAt, type Report } from '../workflow-problems.ts';
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
    return { url: found, origin: found === null ? 'default' : `environment $${fallback}`, variables };
  }
  if (!/^(?:sqlite|postgres|postgresql):/.test(text)) {
    const message = `${key} must start with sqlite: or postgres:`;
    report(errorAt(key, message, { problem: 'unsupported_scheme', allowed: ['sqlite', 'postgres'] }));
  }
  if (variable === null && /:\/\/[^/@]*:[^/@]*@/.test(text)) report(literalSecret(key, 'password'));
  return { url: new Secret(text), origin, variables };
}
