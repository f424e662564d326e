import { applyDecorators, Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { BodyPipe } from '../../http/body.pipe.js';
import { valueOf } from '../../http/errors.js';
import { Operation } from '../../http/operation.js';
import { Access } from '../../http/route-access.js';
import type { Engineer } from '../crud/admin-resource.js';
import { ByEngineer } from '../crud/engineer.decorator.js';
import type { Plain } from '../crud/plain.js';
import { ResolveRoute } from './resolve-route.dto.js';
import { RouteResolutionService } from './route-resolution.service.js';
import { ChosenRoute, RouteResolution } from './route-resolution.view.js';

const Resolves = (): MethodDecorator =>
  applyDecorators(
    Post(),
    HttpCode(200),
    Access({ access: 'admin', needs: 'routes.resolve', body: 'json' }),
    ApiExtraModels(ChosenRoute),
    Operation({
      id: 'resolveRoute',
      tag: 'Admin',
      summary: 'Say which way a code would go now, and why',
      description:
        'The destination rules and the guard’s answer for the number, the routes in the order in which they are tried with the state of their binds and systems, and the chosen one. Nothing is sent or counted; the call adds an entry to the audit log.',
      answer: { status: 200, description: 'The decision with its reasons.', type: RouteResolution },
      errors: ['INVALID_PHONE', 'INVALID_BRAND'],
    }),
  );

@Controller('v1/admin/routes/resolve')
export class RouteResolutionController {
  constructor(private readonly routes: RouteResolutionService) {}

  @Resolves()
  async resolve(@ByEngineer() by: Engineer, @Body(BodyPipe) body: ResolveRoute): Promise<Plain<RouteResolution>> {
    return valueOf(await this.routes.resolve(by, body));
  }
}
