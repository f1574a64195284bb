import type { GateName } from '../../../src/core/dispatch/gates.ts';
import { plainWords } from './words.ts';

const names: Readonly<Record<GateName, string>> = {
  free_here: 'Not claimed',
  free_elsewhere: 'Not claimed elsewhere',
  workflow: 'Workflow file',
  not_paused: 'Not paused',
  day_limit: 'Limits of the day',
  role_budget: 'Budget of its role',
  headroom: 'Disk and memory',
  environment: 'Environment',
  requests_left: 'Requests left',
  account_ready: 'Account',
  review_limit: 'Changes in review',
  claim_limit: 'Claims',
  fields: 'Required fields',
  labels: 'Labels',
  not_terminal: 'Not finished',
  active: 'Active state',
  unblocked: 'Blockers',
  dispatchable: 'Allowed by the tracker',
  plan: 'Plan',
  pipeline: 'Phase',
  chosen: 'Chosen',
  own_limits: 'Limits of the issue',
  slot: 'Free slot',
  slot_in_state: 'Free slot in its state',
  slot_in_baton: 'Free slot in Baton',
};

/** The name of a start condition for people. */
export function gateWords(gate: string): string {
  const known: Readonly<Record<string, string | undefined>> = names;
  return known[gate] ?? plainWords(gate);
}

/**
 * A reason of the daemon, for a page: without the command to type, because the page has a button for it, and without
 * names of settings and codes.
 */
export function reasonWords(text: string): string {
  return text
    .replace(/ To [a-z][a-z ]*: baton [^.]*\.?$/u, '')
    .replace(/, the last one with [a-z]+(?:_[a-z]+)+: /u, ': ')
    .replace(/ \([a-z]+(?:\.[a-z_]+)+\)/gu, '')
    .replace(/\s*[:;,]\s*\.?$/u, '.')
    .replace(/(?<=[("])[a-z]+(?:_[a-z]+)+(?=[)"])/gu, plainWords);
}
