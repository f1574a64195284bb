import type { AgentQuestion, QuestionAnswer, QuestionField } from '../../../core/command/question.ts';
import { exactLine } from '../../../core/text/exact-text.ts';
import { block, type Decision, line, oneLine, question } from '../../questions/approval.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../wire/fields.ts';
import { approveForSession, approveOnce } from '../fixed-texts.ts';
import type { CodexAnswer } from '../wire/connection.ts';
import type { ToolRequestUserInputResponse } from '../wire/protocol.ts';
import { type Approval, approvalFor } from './approval.ts';

const approvalPrefix = 'mcp_tool_call_approval_';

/** The answer for the agent when no person answers its question. */
const noAnswer =
  'No one is available to answer. Decide yourself as well as you can, or end your turn and say what you need to know.';

interface Asked {
  readonly id: string;
  readonly header: string;
  readonly text: string;
  readonly labels: readonly string[];
  readonly isOther: boolean;
  readonly isSecret: boolean;
}

/**
 * Reads `item/tool/requestUserInput` as an approval: Codex also uses this form to ask whether a tool of an MCP server
 * may be called (row A13). Null when it is a real question, even one that looks like an approval (row A14).
 */
export function toolApprovalOf(method: string, params: Fields): Approval | null {
  const asked = readQuestions(params);
  if (asked.length === 0 || !asked.every(({ id }) => id.startsWith(approvalPrefix))) return null;
  if (!asked.every(({ labels }) => labels.some(isYes))) return null;
  const facts = {
    kind: 'tool',
    text: `Codex wants to call a tool: ${asked.map(({ text }) => exactLine(text)).join(' ')}`,
    detail: asked.flatMap(({ header, text }) => [...line('Tool', header), ...block('Message', text)]),
    shown: ['questions', 'isBlocking', 'autoResolutionMs'],
  } as const;
  return approvalFor(method, params, facts, (decision) =>
    answered(asked.map((each) => [each.id, labelFor(decision, each.labels)])),
  );
}

const isYes = (label: string): boolean => /^(approve|allow)/i.test(label);
const isNo = (label: string): boolean => /^(deny|decline|reject|cancel)/i.test(label);

function labelFor(decision: Decision, labels: readonly string[]): string {
  if (decision === 'decline') return labels.find(isNo) ?? noAnswer;
  const wanted = [approveForSession, approveOnce];
  const inOrder = decision === 'accept_for_session' ? wanted : wanted.toReversed();
  const exact = inOrder.flatMap((each) => labels.filter((label) => label.trim().toLowerCase() === each));
  return exact[0] ?? labels.find(isYes) ?? noAnswer;
}

/** The question for a person. */
export function inputQuestionOf(params: Fields): AgentQuestion {
  const asked = readQuestions(params);
  const fields = asked.map(
    ({ id, header, text, labels, isOther, isSecret }): QuestionField => ({
      name: id,
      label: oneLine(text || header || id),
      options: labels,
      allowsOther: labels.length === 0 || isOther,
      isSecret,
    }),
  );
  const text = asked.map((each) => each.text || each.header).join(' ');
  return { ...question(text || 'Codex needs information from you.', options(params)), fields };
}

/** The answer in the protocol of Codex. With null, the agent gets the text `noAnswer`. */
export function inputAnswerOf(params: Fields, answer: QuestionAnswer | null): CodexAnswer {
  const values = answer === null || answer.decision === 'decline' ? {} : answer.values;
  // Codex chooses the ids: one may be the name of a property that every object has.
  const answerTo = (id: string): string => (Object.hasOwn(values, id) ? values[id] : undefined) ?? noAnswer;
  return answered(readQuestions(params).map(({ id }) => [id, answerTo(id)]));
}

function answered(answers: readonly (readonly [string, string])[]): CodexAnswer {
  const result: ToolRequestUserInputResponse = {
    answers: Object.fromEntries(answers.map(([id, answer]) => [id, { answers: [answer] }])),
  };
  return { result };
}

function readQuestions(params: Fields): readonly Asked[] {
  return listOf(params.questions)
    .map(fieldsOf)
    .flatMap((each) => {
      const id = textOf(each.id);
      if (id === null) return [];
      return [
        {
          id,
          header: textOf(each.header) ?? '',
          text: textOf(each.question) ?? '',
          labels: listOf(each.options).flatMap((option) => textOf(fieldsOf(option).label) ?? []),
          isOther: each.isOther === true,
          isSecret: each.isSecret === true,
        },
      ];
    });
}

function options(params: Fields): readonly string[] {
  return listOf(params.questions).flatMap((each) =>
    listOf(fieldsOf(each).options).flatMap((option) => {
      const { label, description } = fieldsOf(option);
      return textOf(description) ? [`${textOf(label) ?? ''}: ${textOf(description)}`] : [];
    }),
  );
}
