/** What the agent is asked to do about a conflict with the base, or a base that moved. */
export const rebaseNote = 'Rebase your branch onto the current base, resolve the conflicts, and run the tests again.';
