import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { SessionAnswer } from '../../verify/session.view.js';
import { ANSWER_HEADERS, headersOf } from './answer-headers.js';
import { operationsOf, type Operation } from './operations.js';
import { WEBHOOKS } from './webhooks.js';

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
  [
    'Admin',
    'Accounts and their resources, carriers, gateways, queues and messages, for on-call engineers with admin keys. `x-required-roles` of a call lists the roles that may make it.',
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
  for (const operation of operationsOf(document)) complete(operation);
  return {
    ...document,
    components: { ...document.components, headers: ANSWER_HEADERS },
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
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      description: 'A secret API key: csk_live_, csk_test_ or csk_admin_ and 38 letters and digits.',
    })
    .addSecurityRequirements('bearer');
  for (const [name, description] of TAGS) builder.addTag(name, description);
  return builder.build();
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
