import { GraphQLError } from 'graphql';

/** A request that the fake does not model. This is a defect of the test or the fake, never an answer of Linear. */
export class NotModelled extends Error {
  constructor(what: string) {
    super(`The fake Linear does not model ${what}.`);
  }
}

/** The kinds of failure in Linear's `extensions.type`, each with its other fields. */
const kinds = {
  'invalid input': { code: 'INPUT_ERROR', statusCode: 400 },
  'argument validation': { code: 'INVALID_INPUT', statusCode: 400 },
  'authentication error': { code: 'AUTHENTICATION_ERROR', statusCode: 401 },
  ratelimited: { code: 'RATELIMITED', statusCode: 429 },
  'graphql error': { code: 'GRAPHQL_VALIDATION_FAILED', statusCode: 400 },
  'internal error': { code: 'INTERNAL_SERVER_ERROR', statusCode: 500 },
} as const;

export type FailureKind = keyof typeof kinds;

/** An error in Linear's format. */
export function linearError(
  kind: FailureKind,
  message: string,
  presentable: string,
  more: Readonly<Record<string, unknown>> = {},
): GraphQLError {
  const type = kind === 'argument validation' ? 'invalid input' : kind;
  return new GraphQLError(message, {
    extensions: { type, ...kinds[kind], userError: true, userPresentableMessage: presentable, ...more },
  });
}

export function entityNotFound(what: string): GraphQLError {
  return linearError('invalid input', `Entity not found: ${what}`, `Could not find referenced ${what}.`);
}

export function invalidArgument(property: string, constraints: Readonly<Record<string, string>>): GraphQLError {
  const [text = 'is invalid'] = Object.values(constraints);
  return linearError('argument validation', 'Argument Validation Error', `${text}.`, {
    validationErrors: [{ property, constraints }],
  });
}
