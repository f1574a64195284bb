/** What an agent that remembers its thread is told at each turn after the first (specification 12; row 1.5). */
export function continuationPrompt(turn: number, maxTurns: number): string {
  return [
    'Continuation guidance:',
    '',
    '- Your last turn ended normally, but the ticket is still in an active state.',
    `- This is continuation turn ${turn} of ${maxTurns} in this run.`,
    '- Go on from the workspace as it is now; do not start again from the beginning.',
    '- The instructions and the ticket are already in this thread; do not repeat them.',
    '- Do what is left of the ticket. Do not end the turn while it is active unless something really blocks you.',
  ].join('\n');
}
