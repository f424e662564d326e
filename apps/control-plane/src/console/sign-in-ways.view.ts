import { ApiProperty } from '@nestjs/swagger';

export class SignInWays {
  @ApiProperty({ type: 'boolean', description: 'With an admin key.', example: true })
  readonly key!: boolean;

  @ApiProperty({
    oneOf: [
      { type: 'object', required: ['name'], properties: { name: { type: 'string' } }, additionalProperties: false },
      { type: 'null' },
    ],
    description:
      'With an OpenID provider, by its name or host, for members of the installation; null where none is set.',
    example: { name: 'id.example.com' },
  })
  readonly oidc!: { readonly name: string } | null;

  @ApiProperty({
    type: 'boolean',
    description: 'With a phone, for members of accounts; false while there is no inbound number.',
    example: true,
  })
  readonly phone!: boolean;

  @ApiProperty({
    type: 'boolean',
    description: 'Whether key and provider are followed by a second step.',
    example: false,
  })
  readonly secondStep!: boolean;
}
