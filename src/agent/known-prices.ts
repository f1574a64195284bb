import type { TokenPrice } from '../core/settings/setting.ts';

/**
 * Public list prices of known models on 2026-11-17, in US dollars for a million tokens, for the cost that an agent has
 * not reported yet or reports for its whole conversation only. `agent.prices` replaces both.
 */
export const knownPrices: Readonly<Record<string, TokenPrice>> = {
  'claude-fable-5-2': { input: 8, cachedInput: 0.2, output: 40 },
  'claude-fable-5': { input: 10, cachedInput: 1, output: 50 },
  'claude-opus-5-5': { input: 4, cachedInput: 0.2, output: 20 },
  'claude-opus-5': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-8': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-7': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-6': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-opus-4-5': { input: 5, cachedInput: 0.5, output: 25 },
  'claude-sonnet-5-5': { input: 2, cachedInput: 0.1, output: 10 },
  'claude-sonnet-5': { input: 2, cachedInput: 0.2, output: 10 },
  'claude-sonnet-4-6': { input: 3, cachedInput: 0.3, output: 15 },
  'claude-sonnet-4-5': { input: 3, cachedInput: 0.3, output: 15 },
  // A prompt of more than 100,000 tokens costs five times as much.
  'claude-haiku-5-5': { input: 0.1, cachedInput: 0.01, output: 0.5 },
  'claude-haiku-4-5': { input: 1, cachedInput: 0.1, output: 5 },
};
