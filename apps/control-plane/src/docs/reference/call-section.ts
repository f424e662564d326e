import type { OpenAPIObject } from '@nestjs/swagger';
import { REQUIRED_ROLES } from '../../http/route-access.js';
import { isErrorCode } from '../rendering/error-pages.js';
import { inline } from '../rendering/markdown.js';
import { type Operation, parametersOf } from '../openapi/operations.js';
import type { Schemas } from '../openapi/schema.js';
import { block, code, escape, table } from '../rendering/page.js';
import { fieldTable } from './field-table.js';

/** A schema, or a reference to one. */
type Written = Parameters<Schemas['example']>[0];
type Content = NonNullable<NonNullable<OpenAPIObject['components']>['requestBodies']>[string];
type Answer = NonNullable<Operation['operation']['responses'][string]>;

/** The section of one call: its parameters, its responses and its errors. */
export function callSection(call: Operation, schemas: Schemas, baseUrl: string): string {
  const { method, path, operation } = call;
  const name = operation.operationId ?? '';
  return `<section class="call" aria-labelledby="${escape(name)}">
<h2 id="${escape(name)}">${escape(operation.summary ?? name)}</h2>
<p class="path"><span class="verb ${method}">${method}</span> ${escape(path)}</p>
<p class="kind">${neededKey(call)}</p>
${operation.description === undefined ? '' : `<p>${inline(operation.description)}</p>`}
${parameters(call, schemas)}
${body(call, schemas)}
<h3>Call</h3>
${block(curl(call, schemas, baseUrl))}
${answers(call, schemas)}
</section>`;
}

/** The key that the call needs, from its first security requirement. */
function neededKey({ operation }: Operation): string {
  const [scope] = Object.values(operation.security?.[0] ?? {}).flat();
  if (scope === undefined) return 'Without a key.';
  return scope === 'admin' ? neededRoles(operation) : `A key with the scope ${code(scope)}.`;
}

function neededRoles(operation: Operation['operation']): string {
  const roles: unknown = Reflect.get(operation, REQUIRED_ROLES);
  const names = Array.isArray(roles) ? roles.map((role) => code(String(role))).join(', ') : '';
  return `An admin key with the role ${names.replace(/, (?!.*, )/, ' or ')}.`;
}

function parameters({ operation }: Operation, schemas: Schemas): string {
  const fields = parametersOf(operation).map(({ name, required, description, schema, in: place }) => {
    const resolved = schemas.resolve(schema ?? {});
    const where = place === 'path' ? 'In the path.' : place === 'header' ? 'A header.' : '';
    const text = [description ?? resolved.description ?? '', where].filter((part) => part !== '').join(' ');
    return { name, required: required ?? false, schema: { ...resolved, description: text } };
  });
  return fields.length === 0 ? '' : `<h3>Parameters</h3>\n${fieldTable(fields, { asked: true })}`;
}

function body({ operation }: Operation, schemas: Schemas): string {
  const schema = schemaOf(operation.requestBody);
  return schema === undefined ? '' : `<h3>Body</h3>\n${fieldTable(schemas.fields(schema), { asked: true })}`;
}

function curl({ method, path, operation }: Operation, schemas: Schemas, baseUrl: string): string {
  const schema = schemaOf(operation.requestBody);
  const verb = method === 'GET' || (method === 'POST' && schema !== undefined) ? '' : ` -X ${method}`;
  const key = operation.security?.length === 0 ? [] : ['-H "Authorization: Bearer $API_KEY"'];
  const sent =
    schema === undefined
      ? []
      : [`-H "Content-Type: application/json"`, `-d '${JSON.stringify(neededOf(schema, schemas))}'`];
  return [`curl${verb} "${baseUrl}${path}"`, ...key, ...sent].join(' \\\n  ');
}

/** An example of a body with its required fields; with all fields when none is required. */
function neededOf(schema: Written, schemas: Schemas): unknown {
  return schemas.example(schema, { whole: (schemas.resolve(schema).required ?? []).length === 0 });
}

function answers(call: Operation, schemas: Schemas): string {
  const all = Object.entries(call.operation.responses).flatMap(([status, written]) => {
    const answer = schemas.response(written);
    return answer === undefined ? [] : [{ status, answer }];
  });
  const successes = all.filter(({ status }) => Number(status) < 400).map((each) => success(call, each, schemas));
  const refusals = all
    .filter(({ status }) => Number(status) >= 400)
    .map(({ status, answer }) => refusal(status, answer));
  return [
    ...successes,
    ...(refusals.length === 0 ? [] : ['<h3>Refusals</h3>', table(['Status', 'Codes'], refusals)]),
  ].join('\n');
}

/** Optional fields of a response are mostly shown once, by the call that creates the resource. */
function success(
  { method }: Operation,
  { status, answer }: { readonly status: string; readonly answer: Exclude<Answer, { $ref: string }> },
  schemas: Schemas,
): string {
  const schema = schemaOf(answer);
  const fields = schema === undefined ? [] : schemas.fields(schema);
  const parts = [`<h3>Answer ${escape(status)}</h3>`, `<p>${inline(answer.description)}</p>`];
  if (schema !== undefined && fields.length > 0) {
    const example: unknown =
      answer.content?.['application/json']?.example ?? schemas.example(schema, { whole: method === 'POST' });
    parts.push(block(JSON.stringify(example, null, 2)), fieldTable(fields, { asked: false }));
  }
  return parts.join('\n');
}

function refusal(status: string, { description }: { readonly description: string }): string[] {
  const codes = description.split(/[^A-Z_]+/).filter(isErrorCode);
  return [status, codes.map((each) => `<a href="/docs/errors/${each}">${code(each)}</a>`).join(', ')];
}

function schemaOf(holder: Content | Answer | undefined): Written | undefined {
  return holder === undefined || '$ref' in holder ? undefined : holder.content?.['application/json']?.schema;
}
