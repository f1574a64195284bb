/*
 * Texts that other programs fix word for word: the labels with which Codex asks whether a tool of an MCP server may be
 * called (compared in lower case), and the answer of Symphony's reference implementation to a call of an unknown tool.
 */

export const approveForSession = 'approve this session';
export const approveOnce = 'approve once';

export function unsupportedTool(name: string): string {
  return `Unsupported dynamic tool: ${JSON.stringify(name)}.`;
}
