"""Family `gates`: one feature gate set; does the kubelet start. The replay of `e2e` says it."""

from tests.conformance.families.e2e import decide as decide
