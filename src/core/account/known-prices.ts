import type { TokenPrice } from '../settings/setting.ts';

/**
 * Public list prices of known models, in US dollars for a million tokens: those of Anthropic on 2026-11-17, those of OpenAI on
 * 2026-09-28, both as known for a prompt of ordinary length. They count where the agent reports no cost, or not yet;
 * `agent.prices` replaces them. `npm run docs` writes them into docs/configuration.md.
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
  // For most of these a prompt of more than 272,000 tokens costs twice as much.
  'gpt-6-astra': { input: 10, cachedInput: 1, output: 50 },
  'gpt-6-sol': { input: 2, cachedInput: 0.2, output: 10 },
  'gpt-6-luna': { input: 0.1, cachedInput: 0.01, output: 0.5 },
  'gpt-5.6-sol': { input: 4, cachedInput: 0.4, output: 20 },
  'gpt-5.6-terra': { input: 2, cachedInput: 0.2, output: 12 },
  'gpt-5.6-luna': { input: 0.2, cachedInput: 0.02, output: 1.2 },
  'gpt-5.5': { input: 5, cachedInput: 0.5, output: 30 },
  'gpt-5.4': { input: 2.5, cachedInput: 0.25, output: 15 },
  'gpt-5.4-mini': { input: 0.75, cachedInput: 0.075, output: 4.5 },
  'gpt-5.3-codex': { input: 1.75, cachedInput: 0.175, output: 14 },
  'gpt-5.2': { input: 1.75, cachedInput: 0.175, output: 14 },
};
