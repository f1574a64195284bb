/** Which issue, in which project. */
export const issue = { project: 'text', issue_id: 'text' } as const;

/** What an agent used. */
export const tokens = {
  input_tokens: 'integer',
  cached_input_tokens: 'integer',
  output_tokens: 'integer',
  reasoning_tokens: 'integer',
  total_tokens: 'integer',
  cost_micro_usd: 'integer',
} as const;
