"""Whether the server lives, can serve, and how it does."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from editor.web.metrics import CONTENT_TYPE
from editor.web.services import Services, find_services

__all__ = ["router"]

router = APIRouter(tags=["health"])
Found = Annotated[Services, Depends(find_services)]


class Liveness(BaseModel):
    status: Literal["alive"] = "alive"


class Readiness(BaseModel):
    """What the server can do now; documents can be edited even while the worker loads."""

    status: Literal["ready", "not_ready"]
    store: Literal["ready", "down"]
    worker: Literal["ready", "loading", "down"]
    message: str = Field(description="What the worker says about its state.")
    waiting: int = Field(description="Jobs that wait at the worker.")
    running: int = Field(description="Jobs that the worker computes now.")


@router.get("/healthz", summary="Whether the process lives")
async def show_liveness() -> Liveness:
    """Answer as long as the event loop turns. The only address that needs no access token."""
    return Liveness()


@router.get(
    "/readyz",
    summary="Whether documents can be edited and refined",
    responses={200: {"model": Readiness}, 503: {"model": Readiness}},
)
async def show_readiness(services: Found) -> JSONResponse:
    """Answer 200 when the store and a worker are ready, else 503 with the same body."""
    is_stored = await services.is_store_ready()
    worker = services.client.health()
    is_ready = is_stored and worker.state == "ready"
    body = Readiness(
        status="ready" if is_ready else "not_ready",
        store="ready" if is_stored else "down",
        worker=worker.state,
        message=worker.message or "",
        waiting=worker.waiting,
        running=worker.running,
    )
    return JSONResponse(body.model_dump(), status_code=200 if is_ready else 503)


@router.get("/metrics", summary="Figures for Prometheus", response_class=Response)
async def show_metrics(services: Found) -> Response:
    """Answer counts and times. Labels are route templates and closed sets only."""
    return Response(services.metrics.render(), media_type=CONTENT_TYPE)
