"""Feature gates that a kubelet does not survive: unknown, locked, or without the gates they need.

docs/rules/kubelet-versions.md 2, "Bad gates". It does not report them but crashes while it reads its configuration. The
names of all gates are from Kubernetes' own list of versioned features and the pages of its documentation on feature
gates. When a gate left is recorded only where it is certain (since 1.33), so a gate that a release dropped may still
count as known; the lists of 1.32 and before are not certain at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from numalign.errors import StartError
from numalign.kubelet.releases.release import Kubelet, Version
from numalign.kubelet.releases.table import exact_kubelets
from numalign.kubelet.releases.v1_32 import V1_32

_UP_TO_1_32 = """
APIResponseCompression APIServerIdentity APIServerTracing APIServingWithRoutine AggregatedDiscoveryRemoveBetaType
AllAlpha AllBeta AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
AllowOverwriteTerminationGracePeriodSeconds AllowServiceLBStatusOnNonLB AllowUnsafeMalformedObjectDeletion
AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache
CBORServingAndStorage CPUCFSQuotaPeriod CRDValidationRatcheting CSIMigrationPortworx CSIVolumeHealth
ChangeContainerStatusOnKubeletRestart ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWebhook
ClusterTrustBundle ClusterTrustBundleProjection ComponentFlagz ComponentSLIs ComponentStatusz
ConcurrentWatchObjectDecode ConsistentListFromCache ContainerCheckpoint ContextualLogging CoordinatedLeaderElection
CronJobsScheduledAnnotation CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod CustomResourceFieldSelectors
DRAAdminAccess DRAResourceClaimDeviceStatus DevicePluginCDIDevices DisableAllocatorDualWrite
DisableNodeKubeProxyVersion EventedPLEG ExecProbeTimeout ExternalServiceAccountTokenSigner GitRepoVolumeDriver
GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAScaleToZero HonorPVReclaimPolicy ImageMaximumGCAge
ImageVolume InPlacePodVerticalScalingAllocatedStatus InTreePluginPortworxUnregister InformerResourceVersion
JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KMSv1 KubeletCgroupDriverFromCRI
KubeletCrashLoopBackOffMax KubeletFineGrainedAuthz KubeletInUserNamespace KubeletPodResourcesDynamicResources
KubeletPodResourcesGet KubeletRegistrationGetOnExistsOnly KubeletSeparateDiskGC KubeletTracing
LegacySidecarContainers LoadBalancerIPMode LocalStorageCapacityIsolationFSQuotaMonitoring LogarithmicScaleDown
LoggingAlphaOptions LoggingBetaOptions MatchLabelKeysInPodAffinity MatchLabelKeysInPodTopologySpread
MaxUnavailableStatefulSet MemoryQoS MultiCIDRServiceAllocator MutatingAdmissionPolicy NFTablesProxyMode
NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap OpenAPIEnums OrderedNamespaceDeletion
PodAndContainerStatsFromCRI PodDeletionCost PodIndexLabel PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
PodLogsQuerySplitStreams PodReadyToStartContainersCondition PodSchedulingReadiness PortForwardWebsockets ProcMountType
QOSReserved RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation
RelaxedEnvironmentVariableValidation ReloadKubeletServerCertificateFile RemoteRequestHeaderUID
ResilientWatchCacheInitialization RetryGenerateName RotateKubeletServerCertificate RuntimeClassInImageCriAPI
RuntimeClassInImageCriApi SELinuxChangePolicy SELinuxMount SELinuxMountReadWriteOncePod SchedulerAsyncPreemption
SchedulerQueueingHints SeparateCacheWatchRPC SeparateTaintEvictionController ServiceAccountNodeAudienceRestriction
ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SizeMemoryBackedVolumes StatefulSetAutoDeletePVC
StatefulSetSemanticRevisionComparison StorageNamespaceIndex StorageVersionAPI StorageVersionHash StorageVersionMigrator
StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks StructuredAuthenticationConfiguration
StructuredAuthorizationConfiguration SupplementalGroupsPolicy SystemdWatchdog TopologyAwareHints
TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy
UserNamespacesPodSecurityStandards UserNamespacesSupport VolumeAttributesClass WatchCacheInitializationPostStartHook
WatchFromStorageWithoutResourceVersion WatchList WatchListClient WinDSR WinOverlay WindowsCPUAndMemoryAffinity
WindowsGracefulNodeShutdown WindowsHostNetwork
"""

_SINCE_1_33 = """
AllowParsingUserUIDFromCertAuth ContainerStopSignals DRADeviceTaints DRAPartitionableDevices DRAPrioritizedList
DeclarativeValidation DeclarativeValidationTakeover DeploymentReplicaSetTerminatingReplicas HPAConfigurableTolerance
InOrderInformers KubeletEnsureSecretPulledImages KubeletPSI KubeletServiceAccountTokenForCredentialProviders
ListFromCacheSnapshot MutableCSINodeAllocatableCount PodObservedGenerationTracking PodTopologyLabelsAdmission
PreferSameTrafficDistribution ReduceDefaultCrashLoopBackOffDecay SchedulerPopFromBackoffQ StorageCapacityScoring
StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StrictIPCIDRValidation
"""

_SINCE_1_34 = """
ClearingNominatedNodeNameAfterBinding ContainerRestartRules DRAConsumableCapacity DRADeviceBindingConditions
DRASchedulerFilterTimeout DetectCacheInconsistency EnvFiles HostnameOverride KubeletPodResourcesListUseActivePods
MatchLabelKeysInPodTopologySpreadSelectorMerge NominatedNodeNameForExpectation PodCertificateRequest
PreventStaticPodAPIReferences RelaxedServiceNameValidation SchedulerAsyncAPICalls SizeBasedListCostEstimate
StructuredAuthenticationConfigurationEgressSelector TokenRequestServiceAccountUIDValidation
"""

_SINCE_1_35 = """
AuthorizePodWebsocketUpgradeCreatePermission CRDObservedGenerationTracking CSIServiceAccountTokenSecrets
CloudControllerManagerWatchBasedRoutesReconciliation ConstrainedImpersonation DRADeviceTaintRules GangScheduling
GenericWorkload ImageVolumeWithDigest InOrderInformersBatchProcess MutablePVNodeAffinity
MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs OpportunisticBatching
RestartAllContainersOnContainerExits StructuredAuthenticationConfigurationJWKSMetrics
TaintTolerationComparisonOperators UserNamespacesHostNetworkSupport VolumeLimitScaling
"""

_SINCE_1_36 = """
AllowServiceExternalIPs AtomicFIFO AtomicWriteVolumeUserFields CRIListStreaming
DRAResourceClaimGranularStatusAuthorization DeclarativeValidationBeta EnableWorkloadWithJob HPAExternalMetricFallback
ResourceHealthStatusMessage UnlockWhileProcessingFIFO WorkloadAwarePreemption WorkloadWithJob
"""

_SINCE: tuple[tuple[Version, str], ...] = (
    ((1, 32), _UP_TO_1_32),
    ((1, 33), _SINCE_1_33),
    ((1, 34), _SINCE_1_34),
    ((1, 35), _SINCE_1_35),
    ((1, 36), _SINCE_1_36),
)


_CERTAIN_SINCE: Version = (1, 33)
"""From this release on a name that is not here is no gate."""


def has_gate(version: Version, name: str) -> bool | None:
    """Tell whether a release has a gate of this name; None: nobody here knows."""
    for since, names in _SINCE:
        if name in names.split():
            return since <= version
    return False if version >= _CERTAIN_SINCE else None


class StartPanicError(StartError):
    """The kubelet crashes at its start."""


def check_feature_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> None:
    """Check the gates of a configuration; of several problems all are told, sorted by gate.

    Raises:
        StartPanicError: the kubelet would crash; the text is its own.
    """
    problems = [*bad_gates(kubelet, given).values()] or [*_unmet(kubelet, given)]
    if problems:
        cause = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise StartPanicError(
            f"failed to merge global and in-flight KubeletConfiguration while setting defaults, error: {cause}"
        )


def doubtful_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> list[str]:
    """List gates of a configuration that the kubelet may or may not know, by name."""
    return sorted(name for name in given if name not in kubelet.gates and _has(kubelet, name) is None)


def bad_gates(kubelet: Kubelet, given: Mapping[str, bool]) -> dict[str, str]:
    """Judge each gate by itself: the name of each that the kubelet does not survive -> its own text, by name."""
    return dict(_each(kubelet, given))


def _each(kubelet: Kubelet, given: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
    for name, value in sorted(given.items()):
        gate = kubelet.gates.get(name)
        if gate is None:
            if _has(kubelet, name) is False:
                yield name, f"unrecognized feature gate: {name}"
        elif gate.locked and gate.default != value:
            default = str(gate.default).lower()
            yield name, f"cannot set feature gate {name} to {str(value).lower()}, feature is locked to {default}"


def _has(kubelet: Kubelet, name: str) -> bool | None:
    """Tell whether the kubelet has a gate that does not matter here; None: that is not certain.

    Before 1.32 nothing about other gates is.
    """
    if kubelet.version < V1_32.version:
        return None
    if any(name in other.gates for other in exact_kubelets()):
        return False
    return has_gate(kubelet.version, name)


def _unmet(kubelet: Kubelet, given: Mapping[str, bool]) -> Iterator[str]:
    """Judge the gates together; what the defaults alone leave unmet is none of the configuration's doing."""
    default, now = kubelet.gates_with({}), kubelet.gates_with(given)
    for name, needed in sorted(kubelet.needs.items()):
        off = [other for other in needed if not now(other)]
        if now(name) and off and not (default(name) and off == [other for other in needed if not default(other)]):
            yield f"{name} is enabled, but depends on features that are disabled: [{' '.join(off)}]"
