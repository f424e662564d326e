import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { BIND_HOST_FORMS, BindDraft } from '../../admin/binds/bind.dto.js';
import { SESSION_COOKIE } from '../../http/console-requests.js';
import { SessionAnswer } from '../../verify/session.view.js';
import { ANSWER_HEADERS, headersOf } from './answer-headers.js';
import { operationsOf, type Operation } from './operations.js';
import { shareErrors } from './shared-errors.js';
import { WEBHOOKS } from './webhooks.js';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
type SchemaObject = Exclude<Schemas[string], { $ref: string }>;

const DESCRIPTION = `Verifies that a user controls a phone number: by an RCS card with buttons, by an SMS from the
phone or by a code.

Every call is JSON over TLS 1.3 and carries \`Authorization: Bearer <API key>\`. Times are \`YYYY-MM-DDTHH:mm:ss.sssZ\`; times with
another offset are accepted. Fields that are not documented, and explicit \`null\`, are refused. Fields of responses and
\`error.code\` values may be added: ignore unknown ones.

An address that is not documented here answers \`NOT_FOUND\`, and another method of one that is \`METHOD_NOT_ALLOWED\`, in the
shape of every error; without a valid key both are \`UNAUTHORIZED\`.`;

const TAGS: readonly (readonly [name: string, description: string])[] = [
  ['Verifications', 'Open, show and end a session; send a code and check it.'],
  ['Webhooks', 'The result of each webhook; retry it, test a URL, replace the signing secret.'],
  ['Usage', 'Counts and costs of verifications.'],
  ['Account', 'The account of the key: its keys, brands and webhook, for its own developers.'],
  [
    'Admin',
    'Accounts and their resources, carriers, gateways, queues and messages, for on-call engineers with admin keys. `x-required-roles` of a call lists the roles that may make it.',
  ],
  [
    'Console',
    'Sign-in and sessions of the console. With its cookie the other calls are at `/console/api/v1/…` instead of `/v1/…`.',
  ],
  ['Documents', 'Descriptions of this service.'],
];

/**
 * The OpenAPI 3.1 document of the application's routes. Adds the parts that decorators of one handler cannot describe:
 * the headers of every response, and the webhooks. `publicBaseUrl` is its server.
 */
export function describeApi(app: INestApplication, publicBaseUrl: string): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, frameOf(publicBaseUrl), {
    autoTagControllers: false,
    extraModels: [SessionAnswer],
  });
  const operations = operationsOf(document);
  for (const operation of operations) complete(operation);
  const responses = shareErrors(operations);
  const { schemas = {} } = document.components ?? {};
  return {
    ...document,
    components: { ...document.components, schemas: withForms(schemas), headers: ANSWER_HEADERS, responses },
    webhooks: WEBHOOKS,
  };
}

function frameOf(publicBaseUrl: string): Omit<OpenAPIObject, 'paths'> {
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Countersign')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .setExternalDoc('Guides, and a page for every error', `${publicBaseUrl}/docs`)
    .addServer(publicBaseUrl)
    // Not `addBearerAuth`, which adds the format JWT.
    .addSecurity('bearer', {
      type: 'http',
      scheme: 'bearer',
      description: 'A secret API key: csk_live_, csk_test_ or csk_admin_ and 38 letters and digits.',
    })
    .addSecurity('session', {
      type: 'apiKey',
      in: 'cookie',
      name: SESSION_COOKIE,
      description:
        'A session of the console, at /console/api alone. Calls other than GET also need the header X-CSRF-Token.',
    })
    .addSecurityRequirements('bearer');
  for (const [name, description] of TAGS) builder.addTag(name, description);
  return builder.build();
}

/**
 * Adds what the decorators of a body's fields cannot say: that one of two sets of them is required. Each set is a schema with
 * a name and properties, because generators of clients make `unknown` of one that has only `required`.
 */
function withForms(schemas: Schemas): Schemas {
  const draft = schemas[BindDraft.name];
  if (draft === undefined || '$ref' in draft) return schemas;
  const { properties = {} } = draft;
  const forms = Object.entries(BIND_HOST_FORMS).map(([name, required]): [string, SchemaObject] => {
    const own = Object.entries(properties).filter(([property]) => required.includes(property));
    return [name, { type: 'object', properties: Object.fromEntries(own), required: [...required] }];
  });
  const anyOf = forms.map(([name]) => ({ $ref: `#/components/schemas/${name}` }));
  return { ...schemas, [BindDraft.name]: { ...draft, allOf: [{ anyOf }] }, ...Object.fromEntries(forms) };
}

function complete({ operation }: Operation): void {
  // The library describes a parameter that accepts only an empty body as a body of any kind.
  if (operation.requestBody !== undefined && !isDescribed(operation.requestBody)) delete operation.requestBody;
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response === undefined || '$ref' in response) continue;
    response.headers = { ...response.headers, ...headersOf(operation, Number(status)) };
  }
}

const isDescribed = (body: object): boolean => JSON.stringify(body).includes('"$ref"');
